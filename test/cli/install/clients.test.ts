import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clients, isInstalled } from '../../../src/cli/install/clients.ts'
import { namedClients } from '../../../src/cli/install/install.ts'
import { clientHome } from '../../harness/client-home.ts'

/**
 * Path of each client's file in the home folder. Roaming and Local stand for %APPDATA% and
 * %LOCALAPPDATA%.
 */
const files: Record<string, Partial<Record<NodeJS.Platform, string>>> = {
  'claude-desktop': {
    linux: '.config/Claude/claude_desktop_config.json',
    darwin: 'Library/Application Support/Claude/claude_desktop_config.json',
    win32: 'Roaming/Claude/claude_desktop_config.json',
  },
  'claude-code': { linux: '.claude.json', darwin: '.claude.json', win32: '.claude.json' },
  cursor: { linux: '.cursor/mcp.json', darwin: '.cursor/mcp.json', win32: '.cursor/mcp.json' },
  vscode: {
    linux: '.config/Code/User/mcp.json',
    darwin: 'Library/Application Support/Code/User/mcp.json',
    win32: 'Roaming/Code/User/mcp.json',
  },
  'vscode-insiders': {
    linux: '.config/Code - Insiders/User/mcp.json',
    darwin: 'Library/Application Support/Code - Insiders/User/mcp.json',
    win32: 'Roaming/Code - Insiders/User/mcp.json',
  },
  windsurf: {
    linux: '.codeium/windsurf/mcp_config.json',
    darwin: '.codeium/windsurf/mcp_config.json',
    win32: '.codeium/windsurf/mcp_config.json',
  },
  codex: {
    linux: '.codex/config.toml',
    darwin: '.codex/config.toml',
    win32: '.codex/config.toml',
  },
  gemini: {
    linux: '.gemini/settings.json',
    darwin: '.gemini/settings.json',
    win32: '.gemini/settings.json',
  },
  zed: {
    linux: '.config/zed/settings.json',
    darwin: '.config/zed/settings.json',
    win32: 'Roaming/Zed/settings.json',
  },
  goose: {
    linux: '.config/goose/config.yaml',
    darwin: '.config/goose/config.yaml',
    win32: 'Roaming/Block/goose/config/config.yaml',
  },
}

const clientOf = (id: string) => {
  const found = clients.find((one) => one.id === id)
  if (!found) throw new Error(`No client ${id}`)
  return found
}

describe.each(['linux', 'darwin', 'win32'] as const)('on %s', (platform) => {
  test('each client has its file', () => {
    using home = clientHome()
    const located = clients.map(({ id, locate }) => [id, locate(home.machine(platform)).file])
    const expected = Object.entries(files).map(([id, by]) => [
      id,
      join(home.path, by[platform] ?? ''),
    ])
    expect(located).toEqual(expected)
  })

  test('a client is found by its file or its folder', () => {
    using home = clientHome()
    const machine = home.machine(platform)
    for (const client of clients) {
      expect(isInstalled(client, machine), client.id).toBe(false)
      const [sign = ''] = client.locate(machine).signs
      mkdirSync(sign, { recursive: true })
      expect(isInstalled(client, machine), client.id).toBe(true)
    }
    expect(clients.filter((client) => !isInstalled(client, machine))).toEqual([])
  })
})

test('the packaged Claude Desktop of Windows has a folder of its own', () => {
  using home = clientHome()
  const inPackage = (id: string) =>
    `Local/Packages/Claude_${id}/LocalCache/Roaming/Claude/claude_desktop_config.json`
  const located = () => clientOf('claude-desktop').locate(home.machine('win32')).file
  mkdirSync(join(home.path, 'Local/Packages/Other'), { recursive: true })
  expect(located()).toBe(join(home.path, 'Roaming/Claude/claude_desktop_config.json'))
  mkdirSync(join(home.path, inPackage('a'), '..'), { recursive: true })
  expect(located()).toBe(join(home.path, inPackage('a')))
  const other = home.write(inPackage('b'), '{}')
  expect(located()).toBe(other)
})

test.each([
  ['claude-code', 'CLAUDE_CONFIG_DIR', '.claude.json'],
  ['codex', 'CODEX_HOME', 'config.toml'],
  ['zed', 'XDG_CONFIG_HOME', 'zed/settings.json'],
  ['goose', 'XDG_CONFIG_HOME', 'goose/config.yaml'],
  ['vscode', 'XDG_CONFIG_HOME', 'Code/User/mcp.json'],
])('%s follows %s', (id, variable, file) => {
  using home = clientHome()
  const machine = home.machine('linux')
  const folder = join(home.path, 'elsewhere')
  expect(clientOf(id).locate({ ...machine, env: { [variable]: folder } }).file).toBe(
    join(folder, file),
  )
  // A relative path would depend on the current folder.
  expect(clientOf(id).locate({ ...machine, env: { [variable]: 'x' } })).toEqual(
    clientOf(id).locate(machine),
  )
})

describe('names of clients', () => {
  test.each([
    ['VSCode', 'vscode'],
    ['Claude Desktop', 'claude-desktop'],
    ['gemini-cli', 'gemini'],
    ['VS Code - insiders', 'vscode-insiders'],
  ])('%s is %s', (name, id) => {
    expect(namedClients([name]).map((client) => client.id)).toEqual([id])
  })

  test('one that is named twice is meant once', () => {
    expect(namedClients(['zed', 'Zed'])).toHaveLength(1)
  })

  test('an unknown one gets a suggestion', () => {
    expect(() => namedClients(['curser'])).toThrow(/"curser"\..* cursor [^,]*\?/)
    expect(() => namedClients(['emacs'])).toThrow(/"emacs"\.[^?]* claude-desktop, [^?]*$/)
  })
})
