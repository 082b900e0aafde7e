import { resolve } from 'node:path'
import { toolSummaries } from '../../server/tool-summaries.ts'
import { ConfigError } from '../config/config-error.ts'
import { platformConfig, platformSettings } from '../config/platform.ts'
import { exposedTools, scopeConfig, scopeSettings } from '../config/service-settings.ts'
import { flag, jsonSettings, settingReader, text } from '../config/setting.ts'
import type { FileChangeOptions, InstallOptions } from '../install/install.ts'
import { type CommandInput, defineCommand, ending } from './command.ts'

/** The server's default name in the files of clients. */
export const usualServerName = 'voice-agents'

export const uninstallSettings = {
  name: text({
    value: 'NAME',
    help: 'The name of the server in the files.',
    range: `A letter, then letters, digits, - and _; default ${usualServerName}.`,
  }),
  print: flag('Only show the changes.'),
  yes: flag('Write without asking.'),
  ...jsonSettings,
}

/** Server flags that `install` takes and writes to a client's file. */
const handedOn = {
  account: scopeSettings.account,
  toolsets: scopeSettings.toolsets,
  tools: scopeSettings.tools,
  'exclude-tools': scopeSettings['exclude-tools'],
  'read-only': scopeSettings['read-only'],
}

const installSettings = {
  ...uninstallSettings,
  list: flag('List the clients, and whether they have the server.'),
  'key-in-files': flag(
    'Write the API key into the files, in plain text. By default only with your consent, for a client that has no other way.',
  ),
  'base-url': platformSettings['base-url'],
  'api-key': platformSettings['api-key'],
  ...handedOn,
}

export const install = defineCommand({
  name: 'install',
  about:
    'Add the server to the MCP clients on this machine, or to those named. Shows each change before it is written.',
  operands: '[CLIENT…]',
  examples: [
    'install                  all clients found',
    'install cursor codex     these two',
    'install --list           the clients',
    'install --print          only show the changes',
    'install vscode --base-url https://api.your-platform.example',
  ],
  settings: installSettings,
  read: (input) => ({ ...installOptions(input), env: input.env }),
  async start({ env, ...options }) {
    const { inThisProcess, install } = await import('../install/install.ts')
    return ending(inThisProcess(env, (here) => install(options, here)))
  },
})

export const uninstall = defineCommand({
  name: 'uninstall',
  about: 'Remove the server from the MCP clients on this machine, or from those named.',
  operands: '[CLIENT…]',
  examples: ['uninstall', 'uninstall cursor --yes'],
  settings: uninstallSettings,
  read: (input) => ({ ...fileChangeOptions(input), env: input.env }),
  async start({ env, ...options }) {
    const { inThisProcess, uninstall } = await import('../install/install.ts')
    return ending(inThisProcess(env, (here) => uninstall(options, here)))
  },
})

function fileChangeOptions({ texts, operands }: CommandInput): FileChangeOptions {
  const value = settingReader(uninstallSettings, texts)
  const name = value('name') ?? usualServerName
  if (!/^[A-Za-z][\w-]{0,63}$/.test(name)) {
    throw new ConfigError(
      '--name takes a letter, then up to 63 letters, digits, hyphens and underscores.',
    )
  }
  return {
    ...{ clients: operands, name },
    isPrint: value('print'),
    isYes: value('yes'),
    wantsJson: value('json'),
  }
}

/** Checks settings as a server does, with the same messages. */
function installOptions(input: CommandInput): InstallOptions {
  const { texts, env, origins } = input
  const value = settingReader(installSettings, texts)
  const platform = platformConfig(texts, env, { needsKey: false })
  const { exposure } = scopeConfig(texts)
  const isNetwork = platform.kind === 'network'
  const mayKeyBePlain = value('key-in-files')
  if (mayKeyBePlain && value('api-key') === undefined) {
    throw new ConfigError(
      '--key-in-files needs the key: set VOICE_AGENT_API_KEY and VOICE_AGENT_BASE_URL.',
    )
  }
  const options = fileChangeOptions(input)
  // Checked before writing: an unknown tool name would stop the server at its start, and the client
  // would not report why.
  exposedTools(toolSummaries, exposure)
  return {
    ...options,
    isList: value('list'),
    mayKeyBePlain,
    flags: serverFlags(input),
    baseUrl: isNetwork && origins['base-url'] !== 'file' ? texts['base-url'] : undefined,
    isSandbox: !isNetwork,
    apiKey: origins['api-key'] === 'file' ? undefined : value('api-key'),
  }
}

function serverFlags({ texts, origins }: CommandInput): string[] {
  const file = texts.config === undefined ? [] : ['--config', resolve(texts.config)]
  const flags = Object.entries(handedOn).flatMap(([name, { value: kind }]) => {
    const given = texts[name]
    if (given === undefined || origins[name] !== 'flag') return []
    return kind === '' ? [`--${name}`] : [`--${name}`, given]
  })
  return [...file, ...flags]
}
