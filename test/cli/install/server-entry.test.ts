import { describe, expect, test } from 'vitest'
import { clients } from '../../../src/cli/install/clients.ts'
import { remoteInstall } from '../../../src/cli/install/server-entry.ts'

const url = 'https://voice.example/mcp'
const header = { name: 'X-API-Key', value: 'YOUR-API-KEY' }

const installOf = (id: string, { isKeyed = true } = {}) => {
  const client = clients.find((one) => one.id === id)
  if (!client) throw new Error(`No client ${id}`)
  const install = remoteInstall(client, {
    name: 'voice-agents',
    url,
    header: isKeyed ? header : undefined,
  })
  return install && { ...install, data: client.format.read(install.text) }
}

describe('the entry of a server on the network', () => {
  test.each([
    ['claude-code', { mcpServers: { 'voice-agents': { type: 'http', url, headers: {} } } }],
    ['cursor', { mcpServers: { 'voice-agents': { url, headers: {} } } }],
    ['windsurf', { mcpServers: { 'voice-agents': { serverUrl: url, headers: {} } } }],
    ['codex', { mcp_servers: { 'voice-agents': { url, http_headers: {} } } }],
    ['gemini', { mcpServers: { 'voice-agents': { httpUrl: url, headers: {} } } }],
    ['zed', { context_servers: { 'voice-agents': { url, headers: {} } } }],
  ])('%s: in the fields that it reads', (id, shape) => {
    const json = JSON.stringify(shape).replace('{}', JSON.stringify({ 'X-API-Key': header.value }))
    expect(installOf(id)?.data).toEqual(JSON.parse(json))
  })

  test('Goose: with what every extension of it has', () => {
    expect(installOf('goose')?.data).toEqual({
      extensions: {
        'voice-agents': {
          ...{ name: 'voice-agents', description: 'Voice agents', enabled: true, timeout: 300 },
          ...{ type: 'streamable_http', uri: url, headers: { 'X-API-Key': header.value } },
        },
      },
    })
  })

  test('VS Code asks for the key, which is in neither its file nor its link', () => {
    const { data, link } = installOf('vscode') ?? {}
    expect(data).toMatchObject({
      inputs: [{ id: 'voice-agents-api-key', password: true }],
      servers: {
        'voice-agents': {
          type: 'http',
          headers: { 'X-API-Key': `\${input:voice-agents-api-key}` },
        },
      },
    })
    expect(link).not.toContain(header.value)
  })

  test('Claude Desktop has none', () => {
    expect(installOf('claude-desktop')).toBeUndefined()
  })

  test('without a header there is no field for it', () => {
    for (const { id } of clients) {
      const { text = '' } = installOf(id, { isKeyed: false }) ?? {}
      expect(text, id).not.toMatch(/header|inputs/)
    }
  })
})

describe('a link that installs it', () => {
  test.each([
    ['vscode', 'vscode:'],
    ['vscode-insiders', 'vscode-insiders:'],
  ])('%s reads back the entry and its question', (id, scheme) => {
    const { link = '' } = installOf(id) ?? {}
    const [address, query = ''] = link.split('?')
    expect(address).toBe(`${scheme}mcp/install`)
    expect(JSON.parse(decodeURIComponent(query))).toEqual({
      name: 'voice-agents',
      inputs: [expect.objectContaining({ id: 'voice-agents-api-key', type: 'promptString' })],
      type: 'http',
      url,
      headers: { 'X-API-Key': `\${input:voice-agents-api-key}` },
    })
  })

  test('Cursor reads back the entry', () => {
    const { host, pathname, searchParams } = new URL(installOf('cursor')?.link ?? '')
    expect([host, pathname]).toEqual(['anysphere.cursor-deeplink', '/mcp/install'])
    expect(searchParams.get('name')).toBe('voice-agents')
    const config = Buffer.from(searchParams.get('config') ?? '', 'base64').toString()
    expect(JSON.parse(config)).toEqual({ url, headers: { 'X-API-Key': header.value } })
  })

  test('only these clients have one', () => {
    const withLink = clients.filter(({ id }) => installOf(id)?.link).map(({ id }) => id)
    expect(withLink).toEqual(['cursor', 'vscode', 'vscode-insiders'])
  })
})
