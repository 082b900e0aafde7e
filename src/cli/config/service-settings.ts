import {
  type ExposableTool,
  type Exposure,
  ExposureError,
  type ExposureSettings,
  everyTool,
  narrowExposure,
  toolsetsOf,
} from '../../mcp/exposure.ts'
import { type LogOptions, logForms, logLevels } from '../../server/observe/log.ts'
import { toolSummaries } from '../../server/tool-summaries.ts'
import { confirmModes } from '../../tool/confirm-mode.ts'
import { ConfigError, faultsOf, readAll, readable } from './config-error.ts'
import type { Environment } from './given-settings.ts'
import { platformConfig, platformSettings } from './platform.ts'
import { sandboxSettings } from './sandbox.ts'
import {
  choice,
  count,
  flag,
  names,
  optionalChoice,
  type SettingTexts,
  seconds,
  settingLabel,
  settingReader,
  text,
  withVariables,
} from './setting.ts'
import { auditConfig, auditSettings, stateConfig, stateSettings } from './state.ts'

const toolsets = toolsetsOf(toolSummaries.map(({ route }) => route)).join(', ')

export const scopeSettings = withVariables({
  account: text({
    value: 'ID',
    help: 'The only account that tools act on. Tools then take no account_id.',
  }),
  toolsets: names({
    help: `Expose only the tools of these toolsets, separated by commas: ${toolsets}.`,
  }),
  tools: names({
    help: 'Expose only these tools, separated by commas; with --toolsets, these as well.',
  }),
  'exclude-tools': names({
    help: 'Do not expose these tools, separated by commas.',
  }),
  'read-only': {
    ...flag(
      'Expose only tools that change nothing, also of --toolsets and --tools. The variable takes true or false.',
    ),
    parse: (given: string | undefined) => given,
  },
  'catalog-ttl': seconds({
    help: 'How long catalogs are cached for resources, prompts, completions and checks. list_models, list_transcribers and list_voices always ask the platform.',
    default: 300,
  }),
  'max-watched': count({
    help: 'Most resources watched for subscriptions, in all. A resource with several subscribers counts once.',
    default: 2500,
  }),
  'max-watched-per-key': count({
    help: 'Most resources watched for subscriptions with one API key.',
    default: 250,
  }),
})

/** The pinned account and the exposure settings. */
export function scopeConfig(texts: SettingTexts) {
  const value = settingReader(scopeSettings, texts)
  const account = value('account')
  // The account id becomes a segment of URL paths. An id with these characters would change the
  // path.
  if (account !== undefined && (/[^!-~]|[/,]/.test(account) || /^\.{1,2}$/.test(account))) {
    // The message does not repeat the text, which may be a misplaced key.
    throw new ConfigError(`${settingLabel(scopeSettings, 'account')} takes the id of one account.`)
  }
  return {
    /**
     * The only account that tools act on; `undefined`: the account that a tool call names, by
     * default the API key's own.
     */
    account,
    /** Exposure settings, unparsed. */
    exposure: {
      toolsets: value('toolsets'),
      tools: value('tools'),
      excludeTools: value('exclude-tools'),
      readOnly: value('read-only'),
    },
    /** Cache lifetime of catalogs, ms. */
    catalogMs: value('catalog-ttl'),
    /** Maximum watched resources: in total, and per API key. */
    watched: { inAll: value('max-watched'), perKey: value('max-watched-per-key') },
  }
}

/** Names of the exposure settings in messages. */
const settingNames = {
  toolsets: settingLabel(scopeSettings, 'toolsets'),
  tools: settingLabel(scopeSettings, 'tools'),
  excludeTools: settingLabel(scopeSettings, 'exclude-tools'),
  readOnly: settingLabel(scopeSettings, 'read-only'),
}

/** The tools that the operator's settings expose. Throws ConfigError. */
export function exposedTools<T extends ExposableTool>(
  tools: readonly T[],
  settings: ExposureSettings,
): Exposure<T> {
  try {
    return narrowExposure(everyTool(tools), settings, {
      who: "this server's setting",
      names: settingNames,
    })
  } catch (error) {
    throw error instanceof ExposureError ? new ConfigError(error.message) : error
  }
}

/** Confirmation, dial policy, and time limits for a telephone call whose placement got no reply. */
export type CallingConfig = ReturnType<typeof callingConfig>

export const callingSettings = withVariables({
  confirm: choice({
    help: 'Ask before calls, deletes, archiving, disabling and greetings with unknown variables for several agents: always, auto (archiving and disabling only what is in use, or several agents by a filter), person (refused where no person can be asked) or never.',
    choices: confirmModes,
    default: 'auto',
  }),
  'dial-policy': text({
    value: 'FILE',
    help: 'Who may be called, from where, when and how often: a JSON file, or the JSON itself.',
    json: { type: ['string', 'object'] },
    // A blank policy is a configuration error. Ignoring it would allow calls that the operator did
    // not intend.
    blankError: 'is empty. Give the policy ({} restricts nothing), or do not set it.',
  }),
  'call-find-out': seconds({
    help: 'How long to look for a call after its reply was lost; placing a call takes at most 54 in all.',
    default: 20,
  }),
  'call-settle': seconds({
    help: 'After this time a call that is not found counts as not placed, and the same request may place it again.',
    default: 120,
  }),
})

export function callingConfig(texts: SettingTexts) {
  const value = settingReader(callingSettings, texts)
  return {
    /** Confirmation mode for calls, deletes, archiving and disabling. */
    confirm: value('confirm'),
    /** Dial policy: its file, or its JSON text. */
    policy: value('dial-policy'),
    timing: {
      /**
       * How long the platform is searched for a telephone call whose placement got no reply, ms.
       */
      findOutMs: value('call-find-out'),
      /** Additional time after which a call that is still not found counts as not placed, ms. */
      settledMs: value('call-settle'),
    },
  }
}

export const logSettings = withVariables({
  log: choice({
    value: 'FORM',
    help: 'Format of the log on standard error. text: lines for people; json: one JSON object per line; off: only an error that ends the program.',
    choices: logForms,
    default: 'text',
  }),
  'log-level': optionalChoice({
    value: 'LEVEL',
    help: 'What the log holds. error: defects and broken connections; warn: also warnings; notice: also start, stop and connecting clients; info: also one line for each request and each refused HTTP request; debug: also messages of errors, which may contain texts of clients.',
    choices: logLevels,
    range: 'Default notice; info with --log json.',
  }),
})

export function logConfig(texts: SettingTexts): LogOptions {
  const value = settingReader(logSettings, texts)
  const form = value('log')
  return { form, level: value('log-level') ?? (form === 'json' ? 'info' : 'notice') }
}

/** Service configuration, the same over stdio and HTTP. */
export type ServiceConfig = ReturnType<typeof serviceConfig>

export const serviceSettings = {
  ...platformSettings,
  ...scopeSettings,
  ...callingSettings,
  ...stateSettings,
  ...auditSettings,
  ...sandboxSettings,
  ...logSettings,
}

const serviceParts = (texts: SettingTexts, env: Environment, options: { needsKey: boolean }) => ({
  platform: () => platformConfig(texts, env, options),
  scope: () => scopeConfig(texts),
  calling: () => callingConfig(texts),
  state: () => stateConfig(texts),
  audit: () => auditConfig(texts, stateConfig(texts)),
  log: () => logConfig(texts),
})

/** Throws ConfigError, with the faults of all parts. */
export const serviceConfig = (...given: Parameters<typeof serviceParts>) =>
  readAll(serviceParts(...given))

/** The valid parts of a configuration. Invalid parts are absent. */
export type UsableConfig = ReturnType<typeof usableConfig>

/**
 * Reads each part of a configuration separately, so that a fault in one part does not hide faults
 * in others. `found`: faults known before; `checks`: further checks, which throw ConfigError.
 */
export function usableConfig(
  texts: SettingTexts,
  env: Environment,
  found: readonly ConfigError[],
  checks: readonly (() => unknown)[],
) {
  const { parts, faults } = readable(serviceParts(texts, env, { needsKey: false }))
  const all = [...found.map(({ message }) => message), ...faults, ...faultsOf(checks)]
  return { ...parts, faults: [...new Set(all)] }
}
