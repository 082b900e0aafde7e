import { ConfigError } from './config-error.ts'
import type { Environment, GivenSettings } from './given-settings.ts'
import { platformConfig, platformSettings } from './platform.ts'
import { scopeConfig, scopeSettings } from './scope.ts'
import { jsonSettings, runFlag, type SettingTexts, settingReader, text } from './setting.ts'

/** The name of the server in the files of clients, unless another is given. */
export const usualServerName = 'voice-agents'

/** Settings of both, install and uninstall. */
const sharedSettings = {
  name: text({
    variable: undefined,
    value: 'NAME',
    help: 'The name of the server in the files.',
    range: `Letters, digits, - and _; default ${usualServerName}.`,
  }),
  print: runFlag('Only show the changes.'),
  yes: runFlag('Ask nothing.'),
  ...jsonSettings,
}

export const uninstallSettings = sharedSettings

const { 'base-url': baseUrl, 'api-key': apiKey } = platformSettings

/** Settings of the server that go into the files as flags, if they are given as flags. */
const {
  account,
  toolsets,
  tools,
  'exclude-tools': excludeTools,
  'read-only': readOnly,
} = scopeSettings
const handedOn = { account, toolsets, tools, 'exclude-tools': excludeTools, 'read-only': readOnly }

export const installSettings = {
  ...sharedSettings,
  list: runFlag('List the clients, and whether they have the server.'),
  'key-in-files': runFlag(
    'Write the API key into the files, in plain text. Without it only with your consent, where a client has no other way.',
  ),
  'base-url': baseUrl,
  'api-key': apiKey,
  ...handedOn,
}

/** How install and uninstall work on the files. */
export interface FileChangeConfig {
  readonly name: string
  readonly isPrint: boolean
  readonly isYes: boolean
  readonly wantsJson: boolean
}

/** Throws ConfigError. */
export function fileChangeConfig(texts: SettingTexts): FileChangeConfig {
  const value = settingReader(sharedSettings, texts)
  const name = value('name') ?? usualServerName
  if (!/^[A-Za-z][\w-]{0,63}$/.test(name)) {
    throw new ConfigError(
      '--name takes a letter, then up to 63 letters, digits, hyphens and underscores.',
    )
  }
  return {
    name,
    isPrint: value('print'),
    isYes: value('yes'),
    wantsJson: value('json'),
  }
}

/** What the server is installed with. */
export interface InstallConfig extends FileChangeConfig {
  readonly isList: boolean
  readonly mayKeyBePlain: boolean
  /** Flags of the server for the files. */
  readonly flags: readonly string[]
  /** The address of the platform for the files; `undefined`: the sandbox, or a file of settings has it. */
  readonly baseUrl: string | undefined
  readonly isSandbox: boolean
  readonly apiKey: string | undefined
}

/** Settings that a server would refuse are refused here, with the same message. Throws ConfigError. */
export function installConfig(
  texts: SettingTexts,
  env: Environment,
  origins: GivenSettings['origins'],
  absolute: (path: string) => string,
): InstallConfig {
  const value = settingReader(installSettings, texts)
  const platform = platformConfig(texts, env, { needsKey: false })
  scopeConfig(texts)
  const isOfFile = origins['base-url'] === 'file'
  const isNetwork = platform.kind === 'network'
  const mayKeyBePlain = value('key-in-files')
  if (mayKeyBePlain && value('api-key') === undefined) {
    throw new ConfigError(
      '--key-in-files needs the key: set VOICE_AGENT_API_KEY and VOICE_AGENT_BASE_URL.',
    )
  }
  return {
    ...fileChangeConfig(texts),
    isList: value('list'),
    mayKeyBePlain,
    flags: serverFlags(texts, origins, absolute),
    baseUrl: isNetwork && !isOfFile ? texts['base-url'] : undefined,
    isSandbox: !isNetwork,
    apiKey: origins['api-key'] === 'file' ? undefined : value('api-key'),
  }
}

function serverFlags(
  texts: SettingTexts,
  origins: GivenSettings['origins'],
  absolute: (path: string) => string,
): string[] {
  const file = texts.config === undefined ? [] : ['--config', absolute(texts.config)]
  const flags = Object.entries(handedOn).flatMap(([name, { value: kind }]) => {
    const given = texts[name]
    if (given === undefined || origins[name] !== 'flag') return []
    return kind === '' ? [`--${name}`] : [`--${name}`, given]
  })
  return [...file, ...flags]
}
