import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/*
 * npm run imports [-- FOLDER]: checks the imports of src/, tools/, test/ and docs/examples/ against
 * this table, including dynamic imports and imports of types. Biome refuses circular imports
 * (`noImportCycles`).
 */

/**
 * Allowed imports. A row is a folder or a file, below src/ unless it is in tools/, test/ or docs/.
 * Files of a row may import each other. A row names only earlier rows, so folders form no cycle, and
 * lower rows do not know higher ones. The longest matching row applies to a file.
 */
const mayImport = {
  // Without dependencies.
  text: '',
  jinja: '',
  'contract/answer-status': '',
  contract: 'text',
  // Available to every part: log, metrics and traces.
  'server/observe': 'text',
  // HTML pages: escaping, style and policy. Views of results, which run in a browser.
  apps: '',
  'apps/pages': 'apps',
  // The build replaces this module by its value.
  'apps/browser/agent/agent-defaults': 'contract',
  'apps/browser': 'apps apps/browser/agent/agent-defaults contract/answer-status text',

  // The platform: its client, and the sandbox in its place.
  platform: 'server/observe contract text',
  'state/private-files': '',
  sandbox: 'contract contract/answer-status jinja state/private-files apps apps/pages text',

  // State, which outlives a request; the dial policy; placing each telephone call once, and
  // following it.
  state: 'state/private-files contract text',
  policy: 'state text',
  calls: 'policy state platform contract text',
  // The audit trail.
  'server/audit': 'calls state state/private-files platform server/observe contract text',
  // A session per API key, with its cached replies.
  'platform/sessions': 'calls state server/observe platform contract text',

  // Building blocks of tools.
  tool: [
    'apps platform/sessions calls policy state platform',
    'contract contract/answer-status jinja text',
  ],
  // The tools: a folder per noun, and the list of all.
  'tools/accounts': 'tool platform/sessions platform contract text',
  'tools/agents': 'tool platform/sessions calls platform contract text',
  'tools/calls':
    'tool platform/sessions calls policy state platform contract contract/answer-status text',
  'tools/conversations': 'tool platform/sessions platform contract text',
  'tools/phone-numbers': 'tool platform/sessions platform contract text',
  'tools/providers': 'tool platform/sessions platform contract text',
  'tools/sip-trunks': 'tool platform/sessions platform contract text',
  'tools/templates': 'tool jinja platform/sessions platform contract text',
  'tools/usage': 'tool platform/sessions platform contract text',
  'tools/index': [
    'tools/accounts tools/agents tools/calls tools/conversations tools/phone-numbers tools/providers',
    'tools/sip-trunks tools/templates tools/usage tool contract',
  ],

  // The MCP server. src/server/service.ts provides its tools and prompts.
  mcp: 'apps tool platform/sessions server/audit calls state server/observe platform contract text',
  prompts: 'mcp tool platform/sessions platform contract text',

  // HTTP and stdio; the OAuth authorization server and its pages.
  'server/transports': 'mcp platform/sessions text',
  'oauth/pages': 'apps apps/pages text',
  'oauth/guarded-fetch': 'server/transports',
  oauth:
    'oauth/pages apps/pages oauth/guarded-fetch server/transports platform/sessions state text',

  // The program: settings, the service that is built from them, and the commands.
  'server/tool-summaries': 'apps tools/index mcp',
  'cli/config':
    'server/tool-summaries server/transports mcp tool platform/sessions state state/private-files server/observe text',
  server: [
    'cli/config server/tool-summaries oauth oauth/guarded-fetch server/transports tools/index tools/calls prompts',
    'mcp tool apps platform/sessions server/audit calls policy state',
    'state/private-files server/observe sandbox platform contract text',
  ],
  // This process's terminal: output, layout of lines, questions and input.
  'cli/terminal/terminal-io': 'cli/config',
  // Our entry in the configuration files of MCP clients.
  'cli/install': 'cli/terminal/terminal-io cli/config state/private-files text',
  // Checks of a server's requirements.
  'cli/doctor':
    'cli/install cli/terminal/terminal-io server tools/index cli/config policy state state/private-files platform contract text',
  // Tools called from the command line.
  'cli/terminal': [
    'cli/terminal/terminal-io',
    'server server/tool-summaries tools/index cli/config',
    'mcp tool platform contract text',
  ],
  cli: [
    'cli/install cli/doctor cli/terminal cli/terminal/terminal-io',
    'server server/tool-summaries tools/index cli/config server/transports mcp tool',
    'platform/sessions server/observe sandbox state apps/pages text',
  ],
  'cli/main': 'cli cli/terminal/terminal-io cli/config',
  bin: 'cli/main state/private-files',

  // Example programs, which start the built program.
  'docs/examples': '',

  // Tests and development programs. None names cli/main, which only src/bin.ts may import.
  'test/harness': [
    'apps cli/install server cli/config oauth tools/index server/transports mcp tool',
    'platform/sessions calls policy state sandbox platform contract text',
  ],
  dev: [
    'apps apps/browser/agent/agent-defaults test/harness cli/install cli cli/terminal',
    'server server/tool-summaries cli/config',
    'tools/index tool mcp sandbox apps/pages platform contract text',
  ],
  test: [
    'apps apps/browser apps/pages cli/install cli/doctor cli/terminal cli/terminal/terminal-io test/harness dev cli server',
    'server/tool-summaries cli/config server/transports server/audit server/observe tools/index tools/accounts',
    'tools/agents tools/calls tools/conversations tools/phone-numbers tools/providers tools/sip-trunks tools/templates',
    'tools/usage prompts mcp tool platform/sessions calls policy state state/private-files sandbox',
    'oauth oauth/pages oauth/guarded-fetch platform contract jinja text',
  ],
} as const

const codeFiles = '{src,tools,test,docs/examples}/**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs,css}'

/** `from './x.ts'`, `import './x.ts'` and `import('./x.ts')`, as Biome formats them. */
const importOf = /\b(?:from|import)[\s(]+'(\.{1,2}\/[^']+)'/g

/** All violations of the table in a folder; empty if there are none. */
export function importProblems(root: string): string[] {
  const files = globSync(codeFiles, { cwd: root, exclude: ['**/node_modules/**'] })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
  const rowOf = new Map(files.map((file) => [file, rowFor(file)]))
  const used = new Set(rowOf.values())
  return [
    ...rowsOutOfOrder(),
    ...rows.filter((row) => !used.has(row)).map((row) => `${row} has no file`),
    ...files
      .filter((file) => rowOf.get(file) === undefined)
      .map((file) => `${file} is in no row of the table`),
    ...files.flatMap((file) =>
      importsOf(root, file)
        .filter((to) => rowOf.has(to) && !isAllowed(rowOf.get(file), rowOf.get(to)))
        .map((to) => `${file} → ${to}: the table does not allow this import`),
    ),
  ]
}

const rows = Object.keys(mayImport)

/** The row with the longest matching name; `undefined` if no row matches. */
function rowFor(file: string): string | undefined {
  const name = file.replace(/^src\//, '').replace(/\.\w+$/, '')
  return rows
    .filter((row) => name === row || name.startsWith(`${row}/`))
    .toSorted((one, other) => other.length - one.length)[0]
}

const importsOf = (root: string, file: string): string[] => [
  ...new Set(
    [...readFileSync(join(root, file), 'utf8').matchAll(importOf)].map(([, to = '']) =>
      posix.join(posix.dirname(file), to),
    ),
  ),
]

/** Files of a row may import each other. */
const isAllowed = (from: string | undefined, to: string | undefined): boolean =>
  from !== undefined && to !== undefined && (from === to || namedBy(from).includes(to))

const namedBy = (row: string): string[] =>
  Object.entries(mayImport)
    .filter(([name]) => name === row)
    .flatMap(([, allowed]) => [allowed].flat().join(' ').split(' '))
    .filter((name) => name !== '')

const rowsOutOfOrder = (): string[] =>
  rows.flatMap((row, place) =>
    namedBy(row)
      .filter((name) => !rows.slice(0, place).includes(name))
      .map((name) => `imports.ts: ${row} names ${name}, which is no earlier row`),
  )

if (import.meta.main) {
  const problems = importProblems(process.argv[2] ?? join(import.meta.dirname, '../..'))
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}
