import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { commands, settings } from '../../src/cli/commands/index.ts'
import { ownFlags } from '../../src/cli/terminal/tool-arguments.ts'
import { MAX_OUTPUT_LENGTH, MAX_STEPS } from '../../src/jinja/limits.ts'
import { DialPolicyConfig, parseDialPolicy } from '../../src/policy/dial-policy-config.ts'
import { prompts } from '../../src/prompts/index.ts'
import { skills } from '../../src/prompts/skills.ts'
import { templateLimits } from '../../src/sandbox/agent-call-settings.ts'
import { Faults } from '../../src/sandbox/faults.ts'
import { confirmModes } from '../../src/tool/confirm-mode.ts'
import { tools } from '../../tools/index.ts'
import { connectStdio } from '../harness/client.ts'
import { blocksOf, documents, firstColumn, read, root, rowsUnder } from './documents.ts'

const all = documents.map(read).join('\n')

/** Paths of a schema's fields, nested objects and list items included. */
function pathsOf(schema: z.ZodType): string[] {
  const walk = (node: z.core.JSONSchema.BaseSchema, prefix: string): string[] =>
    Object.entries(node.properties ?? {}).flatMap(([name, value]) => [
      `${prefix}${name}`,
      ...walk(Object(value), `${prefix}${name}.`),
      ...walk(Object(Object(value).items), `${prefix}${name}.`),
      ...(Object(value).oneOf ?? []).flatMap((one: z.core.JSONSchema.BaseSchema) =>
        walk(one, `${prefix}${name}.`),
      ),
    ])
  return walk(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }), '')
}

test('docs/calls.md has every field of the dial policy, and no other', () => {
  expect(firstColumn('docs/calls.md', 'Dial policy')).toHaveLength(16)
  expect(new Set(firstColumn('docs/calls.md', 'Dial policy'))).toEqual(
    new Set(pathsOf(DialPolicyConfig)),
  )
})

test('the dial policy of docs/calls.md can be used', () => {
  const [policy] = blocksOf('docs/calls.md').filter(({ language }) => language === 'json')
  expect(Object.keys(parseDialPolicy(policy?.text ?? '', 'docs/calls.md'))).toHaveLength(10)
})

test('docs/calls.md has every way to confirm, and no other', () => {
  const modes = firstColumn('docs/calls.md', 'Confirmation').map((mode) => mode.split(' ')[0])
  expect(new Set(modes)).toEqual(new Set(confirmModes))
})

test('docs/sandbox.md has every field of a fault rule, and no other', () => {
  const fields = firstColumn('docs/sandbox.md', 'Faults').flatMap((cell) => cell.split(', '))
  const rules = pathsOf(Faults).map((path) => path.replace(/^rules\./, ''))
  expect(new Set(fields)).toEqual(
    new Set(rules.filter((path) => path !== 'rules' && path !== 'reply')),
  )
})

test('the faults of docs/sandbox.md can be used', () => {
  const [faults] = blocksOf('docs/sandbox.md').filter(
    ({ language, text }) => language === 'json' && text.includes('"rules"'),
  )
  expect(Faults.parse(JSON.parse(faults?.text ?? '')).rules).toHaveLength(3)
})

test('docs/sandbox.md has the limits of templates', () => {
  const limits = rowsUnder('docs/sandbox.md', 'Templates').map(([, value = '']) => value)
  const { maxLength, maxSteps } = templateLimits
  expect(limits).toEqual(
    [maxLength, maxSteps, MAX_STEPS, MAX_OUTPUT_LENGTH].map((limit) => limit.toLocaleString('en')),
  )
})

test('documents name settings and variables that exist', () => {
  const ours = Object.values(settings).map(({ variable }) => variable)
  const variables = all.match(/VOICE_AGENT_[A-Z_]+/g) ?? []
  const unknownNames = variables.filter((name) => !ours.some((one) => one === name))
  expect([...new Set(unknownNames)].sort()).toEqual(foreignVariables)
  const flags = [...Object.keys(settings), 'help', 'version', ...toolFlags]
  const named = [...prose(all).matchAll(/`--([a-z-]+)/g)].map(([, flag = '']) => flag)
  expect(named.length).toBeGreaterThan(50)
  const unknown = named.filter((flag) => !flags.includes(flag) && !foreignFlags.includes(flag))
  expect(unknown).toEqual([])
})

/** Names in documents that are no settings on purpose: misspelt, or set by Kubernetes. */
const foreignVariables = [
  'VOICE_AGENT_MCP_READ_ONLY',
  'VOICE_AGENT_READONLY',
  'VOICE_AGENT_READ_ONLY_MODE',
  'VOICE_AGENT_SERVICE_HOST',
  'VOICE_AGENT_TOKEN',
]

/** Flags of `voice-agent-mcp call`: the arguments of all tools, and the command's own. */
const toolFlags = tools
  .flatMap((tool) => Object.keys(tool.inputSchema().properties ?? {}))
  .map((name) => name.replaceAll('_', '-'))
  .flatMap((name) => [name, `no-${name}`])
  .concat(Object.keys(ownFlags))

/** Flags of other programs in documents: Node.js, npm and the scripts for developers. */
const foreignFlags = [
  'import ignore-scripts max-semi-space-size max-old-space-size optimize-for-size',
  'list lists answer-ms placements seed seeds from at-once json suite requirements',
  'line minutes state project',
  'dry-run schema provenance check',
].flatMap((names) => names.split(' '))

/** Flags of scripts follow `-- --`. */
const prose = (text: string) => text.replaceAll('`-- --', '`--')

test('docs/deployment.md lifts every limit per client address behind a proxy', () => {
  const lifted = read('docs/deployment.md').match(/(?<=^export )\w+(?==0$)/gm)
  const variables = Object.values(settings).map(({ variable }) => variable)
  expect(lifted).toEqual(variables.filter((name) => name?.endsWith('_PER_ADDRESS')))
})

test('documents name scripts that exist', () => {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
  const named = [...all.matchAll(/\bnpm run (?:-s )?([a-z:]+)/g)].map(([, script = '']) => script)
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((script) => !(script in scripts))).toEqual([])
  // Scripts that npm or other scripts run need not be documented.
  const inner = ['prepack', 'start', 'test']
  const own = Object.keys(scripts).filter((script) => !inner.includes(script))
  expect(own.filter((script) => !named.includes(script))).toEqual([])
})

test('documents name commands that exist, and every command', () => {
  const named = [...all.matchAll(/\bvoice-agent-mcp(?:\.js)? ([a-z]+)/g)].map(
    ([, name = '']) => name,
  )
  const ours = commands.map(({ name }) => name)
  // Clients start the program without the command `stdio`.
  const written = ours.filter((name) => name !== 'stdio')
  expect(new Set(named)).toEqual(new Set([...written, 'help', 'version']))
})

test('documents name tools that exist', () => {
  const names = tools.map(({ name }) => name)
  const verbs = [...new Set(names.map((name) => name.split('_')[0]))].join('|')
  const named = [...all.matchAll(new RegExp(`\`((?:${verbs})_[a-z_]+)\``, 'g'))].map(
    ([, name = '']) => name,
  )
  expect(named.filter((name) => !names.includes(name))).toEqual([])
  expect(new Set(named)).toEqual(new Set(names))
})

test('docs/tools.md has every prompt, and no other', () => {
  expect(firstColumn('docs/tools.md', 'Prompts')).toEqual(prompts.map(({ name }) => name))
})

test('docs/tools.md has every skill, and no other', () => {
  expect(firstColumn('docs/tools.md', 'Skills')).toEqual(skills.map(({ name }) => name))
})

test('docs/tools.md has every resource, and no other', async () => {
  await using client = await connectStdio('v2 2026-07-28')
  const { resources } = await client.listResources()
  const templates = await client.listResourceTemplates()
  const addresses = [
    ...resources.map(({ uri }) => uri).filter((uri) => !/\/agents\/|^skill:/.test(uri)),
    ...templates.map(({ uriTemplate }) => uriTemplate),
  ]
  expect(new Set(firstColumn('docs/tools.md', 'Resources'))).toEqual(new Set(addresses))
})

test('the first block under Develop is the test command of CI', () => {
  const [, develop = ''] = read('README.md').split(/^## Develop$/m)
  expect(/```sh\n(.*)\n```/.exec(develop)?.[1]).toBe('npm ci && npm test')
})
