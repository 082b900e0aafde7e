import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, test } from 'vitest'
import { clientKinds, connectStdio } from '../harness/client.ts'
import { bin, cleanEnv, quietly, startHttpProgram } from '../harness/program.ts'

const names = ['build-voice-agent', 'diagnose-failed-calls', 'report-usage']
const uriOf = (name: string) => `skill://${name}/SKILL.md`

const modes = { '2026-07-28': { pin: '2026-07-28' }, '2025-11-25': 'legacy' } as const

function makeClient(revision: keyof typeof modes) {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: modes[revision] } },
  )
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

async function overStdio(revision: keyof typeof modes, env: Record<string, string> = {}) {
  const client = makeClient(revision)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin],
    env: cleanEnv({ VOICE_AGENT_SANDBOX_DB: ':memory:', ...quietly, ...env }),
    stderr: 'ignore',
  })
  await client.connect(transport)
  return client
}

/** Checks that a client lists these skills, and that each text matches the digest of its entry. */
async function expectSkills(client: Client, expected: readonly string[]) {
  const skills = new SkillsClient(client)
  expect(skills.supported).toBe(true)
  const { skills: entries } = await skills.list()
  expect(entries.map(({ frontmatter }) => frontmatter.name)).toEqual(expected)
  const { resources } = await client.listResources()
  for (const entry of entries) {
    expect(entry).toEqual((await skills.get(entry.uri)).skill)
    const file = await skills.read(entry)
    expect(file).toMatchObject({ verified: true, mimeType: 'text/markdown' })
    expect(resources.find(({ uri }) => uri === entry.uri)).toMatchObject({
      ...entry.frontmatter,
      mimeType: 'text/markdown',
      size: file.bytes.length,
    })
  }
  return skills
}

describe.each(['2026-07-28', '2025-11-25'] as const)('skills in %s', (revision) => {
  test('are listed, and read as they are listed, over stdio', async () => {
    await using client = await overStdio(revision)
    const skills = await expectSkills(client, names)
    await expect(skills.get('skill://nothing/SKILL.md')).rejects.toMatchObject({ code: -32602 })
  })

  test('are the same over HTTP', async () => {
    await using program = await startHttpProgram()
    await using client = makeClient(revision)
    await client.connect(new StreamableHTTPClientTransport(new URL(program.url)))
    const skills = await expectSkills(client, names)
    await expect(skills.get('skill://nothing/SKILL.md')).rejects.toMatchObject({ code: -32602 })
  })
})

describe.each([
  ['VOICE_AGENT_READ_ONLY', 'true', ['diagnose-failed-calls', 'report-usage']],
  ['VOICE_AGENT_TOOLSETS', 'usage', ['report-usage']],
  // Other tools with the same operations do not replace the tool that a skill names.
  ['VOICE_AGENT_TOOLS', 'copy_agent,wait_for_call,get_usage', ['report-usage']],
])('where %s is %s', (setting, value, left) => {
  test('only skills whose tool is exposed are served', async () => {
    await using client = await overStdio('2026-07-28', { [setting]: value })
    const skills = await expectSkills(client, left)
    for (const name of names.filter((one) => !left.includes(one))) {
      await expect(skills.get(uriOf(name))).rejects.toMatchObject({ code: -32602 })
      await expect(client.readResource({ uri: uriOf(name) })).rejects.toMatchObject({
        code: -32602,
      })
    }
  })
})

test.each(clientKinds)('%s reads one without the extension, as a resource', async (kind) => {
  await using client = await connectStdio(kind)
  expect(await client.readText(uriOf('report-usage'))).toMatch(/^---\nname: report-usage\n/)
})
