import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { usualServerName } from '../../cli/commands/install.ts'
import { type PackageInfo, root } from './package-info.ts'

/*
 * The plugin for terminal assistants: a folder with the server and the skill, to be published as a
 * repository. Each manifest is at the path that its client expects.
 */

/** Name of the plugin and of its server, as in `install`. */
const name = usualServerName

/** Launch command of this version's package. */
const launch = ({ name: id, version }: PackageInfo) => ({
  command: 'npx',
  args: ['-y', `${id}@${version}`],
})

/** Writes the plugin into a folder, replacing its contents. */
export function writePlugin(info: PackageInfo, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  const manifests = {
    '.claude-plugin/plugin.json': claudePlugin(info),
    '.claude-plugin/marketplace.json': claudeMarketplace(info),
    'gemini-extension.json': geminiExtension(info),
    'plugin.json': agentPlugin(info),
    'mcp.json': agentPluginServers(info),
  }
  for (const [file, manifest] of Object.entries(manifests)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), `${JSON.stringify(manifest, undefined, 2)}\n`)
  }
  cpSync(join(root, 'docs/skills/voice-agent'), join(folder, 'skills/voice-agent'), {
    recursive: true,
  })
  const skill = join(folder, 'skills/voice-agent/SKILL.md')
  writeFileSync(skill, skillOfPackage(readFileSync(skill, 'utf8'), info))
}

/** The skill for people without a clone: the program comes from this version's package. */
function skillOfPackage(text: string, info: PackageInfo): string {
  const { command, args } = launch(info)
  const ofClone = /^`CLONE\/.*$/m
  if (!ofClone.test(text)) throw new Error('The skill does not say what to run in a clone.')
  return text.replace(ofClone, `\`${[command, ...args].join(' ')}\` in its place.`)
}

/** For Claude Code, which asks for the options when the plugin is enabled. */
function claudePlugin(info: PackageInfo) {
  const { version, description, author, license, keywords, repository } = info
  return {
    ...{ name, version, description, author: { name: author }, license, keywords },
    ...(repository && { repository: repository.url }),
    userConfig: Object.fromEntries(
      // An empty answer counts as not given.
      Object.entries(manifestOptions).map(([key, option]) => [
        key,
        { ...option, default: option.default ?? '' },
      ]),
    ),
    mcpServers: {
      [name]: {
        ...launch(info),
        env: optionVariables,
      },
    },
  }
}

/** Makes the plugin's repository a marketplace with this one plugin. */
const claudeMarketplace = ({ author, description }: PackageInfo) => ({
  name: 'voice-agent-mcp',
  owner: { name: author },
  description,
  plugins: [{ name, source: './', description }],
})

/** For Gemini CLI, which asks for the settings on installation. */
const geminiExtension = (info: PackageInfo) => ({
  name,
  version: info.version,
  description: info.description,
  mcpServers: { [name]: launch(info) },
  settings: Object.values(installOptions).map(({ title, description, variable, sensitive }) => ({
    name: title,
    description,
    envVar: variable,
    ...(sensitive && { sensitive }),
  })),
})

/** Schema id of Agent Plugins, a format that several clients share. */
const agentPluginSchema = (file: 'plugin' | 'mcp') =>
  `https://agent-plugins.org/schemas/1.0.0/${file}.schema.json`

/** For clients of Agent Plugins 1.0, which allows no other fields. */
const agentPlugin = ({
  version,
  description,
  author,
  license,
  keywords,
  repository,
}: PackageInfo) => ({
  $schema: agentPluginSchema('plugin'),
  ...{ name, version, description, author: { name: author }, license, keywords },
  ...(repository && { repository: repository.url }),
})

/**
 * The plugin's server. The format has no place for a key, so the server uses the client's
 * environment.
 */
const agentPluginServers = (info: PackageInfo) => ({
  $schema: agentPluginSchema('mcp'),
  mcpServers: { [name]: { type: 'stdio', ...launch(info), cwd: `\${PLUGIN_DATA}` } },
})

/** A setting that a client asks for. */
interface InstallOption {
  readonly variable: string
  readonly type: 'string' | 'boolean' | 'file'
  readonly title: string
  readonly description: string
  readonly sensitive?: boolean
  readonly default?: boolean
}

/**
 * Settings that a client asks for when it installs the desktop bundle or the registry's package.
 * All others belong in a configuration file, also the dial policy: an empty policy is an error, but
 * an empty answer counts as not given.
 */
export const installOptions: Readonly<Record<string, InstallOption>> = {
  base_url: {
    variable: 'VOICE_AGENT_BASE_URL',
    type: 'string',
    title: 'Address of the platform',
    description:
      'Leave address and key empty to try the server on its built-in sandbox, where nothing is dialled. Example: https://api.your-platform.example',
  },
  api_key: {
    variable: 'VOICE_AGENT_API_KEY',
    type: 'string',
    title: 'API key',
    description: 'Your API key of the platform. It is sent to that address only.',
    sensitive: true,
  },
  account: {
    variable: 'VOICE_AGENT_ACCOUNT',
    type: 'string',
    title: 'Only this account',
    description:
      'The id of one account or subaccount that all tools act on. Empty: all of the key.',
  },
  read_only: {
    variable: 'VOICE_AGENT_READ_ONLY',
    type: 'boolean',
    title: 'Only read',
    description: 'Offer only tools that read: no calls, and no changes.',
    default: false,
  },
  config_file: {
    variable: 'VOICE_AGENT_CONFIG',
    type: 'file',
    title: 'File of further settings',
    description: 'A JSON file for all other settings, such as a dial policy. Empty: none.',
  },
}

const options = Object.entries(installOptions)

/** Variables of the options, with the clients' placeholders for a person's answers. */
export const optionVariables = Object.fromEntries(
  options.map(([key, { variable }]) => [variable, `\${user_config.${key}}`]),
)

/** Options in the manifests' form, by key. */
export const manifestOptions = Object.fromEntries(
  options.map(([key, { variable: _, ...option }]) => [key, { ...option, required: false }]),
)
