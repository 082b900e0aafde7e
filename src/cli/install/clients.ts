import { existsSync, readdirSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { homeFolder } from '../../state/private-files.ts'
import { ConfigError } from '../config/config-error.ts'
import type { Environment } from '../config/given-settings.ts'
import type { TextFormat } from './config-text-edits.ts'
import { jsonWithComments, strictJson } from './json-format.ts'
import { toml } from './toml-format.ts'
import { yaml } from './yaml-format.ts'

/**
 * How a client gives a server an API key that is not in the client's file:
 * - `reference`: a placeholder in the server's `env`, which the client replaces by its own variable
 * - `prompt`: the client prompts once and stores the key in its secret store
 * - `listed`: `field` lists the variables that the server inherits
 * - `inherited`: the server inherits the client's whole environment
 * - `none`: not supported
 */
type SecretPlace =
  | { readonly kind: 'reference'; readonly text: (variable: string) => string }
  | { readonly kind: 'prompt' }
  | { readonly kind: 'listed'; readonly field: string; readonly where: string }
  | { readonly kind: 'inherited' }
  | { readonly kind: 'none' }

/** Field names of an entry, and its constant fields. */
interface EntryForm {
  readonly command: string
  readonly env: string
  /** Constant fields of a new entry. `name`: the server's name. */
  readonly fixed: (name: string) => Readonly<Record<string, string | number | boolean>>
}

/** Field names of an entry for a remote server, and its constant fields. */
interface RemoteForm {
  readonly url: string
  readonly headers: string
  /** Constant fields of a new entry, besides URL and headers. */
  readonly fixed: EntryForm['fixed']
}

/** An MCP client that configures its servers in a file. */
export interface Client {
  /** Name on the command line. */
  readonly id: string
  readonly title: string
  readonly format: TextFormat
  /** Field of the client's file with all its servers, such as `mcpServers`. */
  readonly servers: string
  /** Path of the client's file. The client is installed if the file or one of `signs` exists. */
  readonly locate: (machine: Machine) => {
    readonly file: string
    readonly signs: readonly string[]
  }
  readonly secret: SecretPlace
  readonly form: EntryForm
  /**
   * `undefined`: the file supports no remote servers. Users add them in the client's own settings.
   */
  readonly remote: RemoteForm | undefined
  /** URL scheme of the client's install links. */
  readonly linkScheme?: 'vscode' | 'vscode-insiders' | 'cursor'
  /** Action that makes the client reload its file. */
  readonly restart: string
}

const usualForm: EntryForm = { command: 'command', env: 'env', fixed: () => ({}) }
const typedForm: EntryForm = { ...usualForm, fixed: () => ({ type: 'stdio' }) }

const usualRemote: RemoteForm = { url: 'url', headers: 'headers', fixed: () => ({}) }
const typedRemote: RemoteForm = { ...usualRemote, fixed: () => ({ type: 'http' }) }

/** Defaults that most clients share. */
const usual = {
  format: jsonWithComments,
  servers: 'mcpServers',
  form: usualForm,
  remote: usualRemote,
}

/** A file in a folder that exists if the client is installed. */
const inFolder = (folder: string, name: string) => ({ file: join(folder, name), signs: [folder] })

const envReference: SecretPlace = { kind: 'reference', text: (name) => `\${env:${name}}` }

/** VS Code and its preview differ in their folder names. */
const vsCode = (id: 'vscode' | 'vscode-insiders', title: string, folder: string): Client => ({
  id,
  title,
  // Source: VS Code's reference of its MCP configuration. It has servers and inputs; ${input:…}
  // refers to an input that VS Code asks the user for.
  format: jsonWithComments,
  servers: 'servers',
  locate: (machine) => inFolder(join(appData(machine), folder, 'User'), 'mcp.json'),
  secret: { kind: 'prompt' },
  form: typedForm,
  remote: typedRemote,
  linkScheme: id,
  restart: 'Start the server with the command "MCP: List Servers".',
})

/**
 * All clients. Each title is the name in the maker's documentation. To add a client, add a row
 * here.
 */
export const clients: readonly Client[] = [
  {
    // Source: MCP's user guide for Claude Desktop. JSON.parse reads the file; values are not
    // expanded. On Windows Claude Desktop is a packaged app (MSIX), which has its own folder in
    // place of %APPDATA%.
    ...usual,
    id: 'claude-desktop',
    title: 'Claude Desktop',
    format: strictJson,
    locate: (machine) => inFolder(claudeDesktopFolder(machine), 'claude_desktop_config.json'),
    secret: { kind: 'none' },
    remote: undefined,
    restart: 'Quit Claude Desktop and start it again.',
  },
  {
    // Source: Claude Code's documentation of MCP. Servers of the user are in ~/.claude.json;
    // ${VAR:-default} is expanded. Without a default, an unset variable makes the whole file
    // invalid.
    ...usual,
    id: 'claude-code',
    title: 'Claude Code',
    format: strictJson,
    locate: (machine) => ({
      file: join(clientHome(machine, 'CLAUDE_CONFIG_DIR', ''), '.claude.json'),
      signs: [clientHome(machine, 'CLAUDE_CONFIG_DIR', '.claude')],
    }),
    secret: { kind: 'reference', text: (name) => `\${${name}:-}` },
    form: typedForm,
    remote: typedRemote,
    restart: 'Start a new session.',
  },
  {
    // Source: Cursor's documentation of MCP. ${env:NAME} is expanded in command, args, env, url and
    // headers.
    ...usual,
    id: 'cursor',
    title: 'Cursor',
    locate: ({ home }) => inFolder(join(home, '.cursor'), 'mcp.json'),
    secret: envReference,
    linkScheme: 'cursor',
    restart: 'Cursor reads the file by itself; look at Settings, MCP.',
  },
  vsCode('vscode', 'VS Code', 'Code'),
  vsCode('vscode-insiders', 'VS Code Insiders', 'Code - Insiders'),
  {
    // Source: Windsurf's documentation of MCP in Cascade, its assistant. ${env:NAME} is expanded as
    // in Cursor.
    ...usual,
    id: 'windsurf',
    title: 'Windsurf',
    locate: ({ home }) => inFolder(join(home, '.codeium', 'windsurf'), 'mcp_config.json'),
    secret: envReference,
    remote: { ...usualRemote, url: 'serverUrl' },
    restart: 'Press the refresh button of the MCP servers in Cascade.',
  },
  {
    // Source: Codex's configuration reference. A server inherits a few variables, and those listed
    // in env_vars.
    ...usual,
    id: 'codex',
    title: 'Codex',
    format: toml,
    servers: 'mcp_servers',
    locate: (machine) => inFolder(clientHome(machine, 'CODEX_HOME', '.codex'), 'config.toml'),
    secret: { kind: 'listed', field: 'env_vars', where: 'the environment of Codex' },
    remote: { ...usualRemote, headers: 'http_headers' },
    restart: 'Start a new session.',
  },
  {
    // Source: Gemini CLI's configuration reference. Comments are allowed; $NAME and ${NAME} are
    // expanded in strings.
    ...usual,
    id: 'gemini',
    title: 'Gemini CLI',
    locate: ({ home }) => inFolder(join(home, '.gemini'), 'settings.json'),
    secret: { kind: 'reference', text: (name) => `\${${name}}` },
    // `url` would be the older transport (HTTP+SSE).
    remote: { ...usualRemote, url: 'httpUrl' },
    restart: 'Start a new session.',
  },
  {
    // Source: Zed's documentation of MCP, and the code of its stdio transport. The server inherits the
    // environment of Zed, and values are not expanded.
    ...usual,
    id: 'zed',
    title: 'Zed',
    servers: 'context_servers',
    locate: (machine) => inFolder(zedFolder(machine), 'settings.json'),
    secret: { kind: 'inherited' },
    restart: 'Zed reads the file by itself; look at the settings of its Agent Panel.',
  },
  {
    // Source: Goose's guide to configuration files. Goose reads env_keys from its keyring or its
    // environment.
    id: 'goose',
    title: 'Goose',
    format: yaml,
    servers: 'extensions',
    locate: (machine) => inFolder(gooseFolder(machine), 'config.yaml'),
    secret: { kind: 'listed', field: 'env_keys', where: "Goose's keyring or environment" },
    form: {
      command: 'cmd',
      env: 'envs',
      fixed: (name) => gooseExtension(name, 'stdio'),
    },
    remote: {
      url: 'uri',
      headers: 'headers',
      fixed: (name) => gooseExtension(name, 'streamable_http'),
    },
    restart: 'Start a new session.',
  },
]

const gooseExtension = (name: string, type: string) => ({
  name,
  description: 'Voice agents',
  type,
  enabled: true,
  timeout: 300,
})

const zedFolder = (machine: Machine) =>
  machine.platform === 'win32' ? join(roaming(machine), 'Zed') : join(xdgConfig(machine), 'zed')

const gooseFolder = (machine: Machine) =>
  machine.platform === 'win32'
    ? join(roaming(machine), 'Block', 'goose', 'config')
    : join(xdgConfig(machine), 'goose')

function claudeDesktopFolder(machine: Machine): string {
  const usual = join(appData(machine), 'Claude')
  if (machine.platform !== 'win32') return usual
  const packages = join(localAppData(machine), 'Packages')
  const folders = (existsSync(packages) ? readdirSync(packages) : [])
    .filter((name) => name.startsWith('Claude_'))
    .map((name) => join(packages, name, 'LocalCache', 'Roaming', 'Claude'))
    .filter((folder) => existsSync(folder))
  const withFile = folders.find((folder) => existsSync(join(folder, 'claude_desktop_config.json')))
  return withFile ?? folders[0] ?? usual
}

/** Finds the client by its clientInfo name: `cursor-vscode` is Cursor. The longest match wins. */
export function clientCalled(name: string): Client | undefined {
  const given = wordsOf(name)
  return clients
    .filter(({ id, title }) => [id, title].some((one) => given.startsWith(wordsOf(one))))
    .toSorted((a, b) => b.id.length - a.id.length)[0]
}

const wordsOf = (name: string) =>
  `${name
    .slice(0, 64)
    .toLowerCase()
    .replace('visual studio code', 'vscode')
    .replaceAll(/[^a-z]+/g, '-')}-`

/** True if a client seems to be installed. */
export function isInstalled(client: Client, machine: Machine): boolean {
  const { file, signs } = client.locate(machine)
  return [file, ...signs].some((path) => existsSync(path))
}

/** Facts about the machine that decide the paths of configuration files. */
export interface Machine {
  readonly platform: NodeJS.Platform
  readonly env: Environment
  readonly home: string
}

/** This machine. Throws ConfigError without a home folder. */
export function thisMachine(env: Environment): Machine {
  const home = homeFolder()
  if (home === undefined) {
    throw new ConfigError('The home folder is unknown: set HOME to its absolute path.')
  }
  return { platform: process.platform, env, home }
}

/** Folder from a variable, otherwise the default. A relative path counts as not set (XDG). */
const folderOf = (variable: string | undefined, usual: string): string =>
  variable !== undefined && isAbsolute(variable) ? variable : usual

/** Configuration folder of XDG programs, on Linux and macOS. */
const xdgConfig = ({ env, home }: Machine): string =>
  folderOf(env.XDG_CONFIG_HOME, join(home, '.config'))

/** %APPDATA% of Windows. */
const roaming = ({ env, home }: Machine): string =>
  folderOf(env.APPDATA, join(home, 'AppData', 'Roaming'))

/** %LOCALAPPDATA% of Windows. */
const localAppData = ({ env, home }: Machine): string =>
  folderOf(env.LOCALAPPDATA, join(home, 'AppData', 'Local'))

/** Configuration folder of desktop programs (Electron's `appData`). */
function appData(machine: Machine): string {
  if (machine.platform === 'win32') return roaming(machine)
  if (machine.platform === 'darwin') return join(machine.home, 'Library', 'Application Support')
  return xdgConfig(machine)
}

/** The folder from the client's own variable, else in the home folder. */
const clientHome = ({ env, home }: Machine, variable: string, usual: string): string =>
  folderOf(env[variable], join(home, usual))
