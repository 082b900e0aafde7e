import {
  type ExposableTool,
  type Exposure,
  ExposureError,
  type ExposureSettings,
  everyTool,
  narrowExposure,
  toolsetsOf,
} from '../../mcp/exposure.ts'
import { toolSummaries } from '../../server/tool-summaries.ts'
import { ConfigError } from './config-error.ts'
import {
  count,
  flag,
  names,
  type SettingTexts,
  seconds,
  settingLabel,
  settingReader,
  text,
} from './setting.ts'

/** Account and tools that assistants get. */
export interface ScopeConfig {
  /** Pinned account of all tools; `undefined`: the caller's choice, or the key's own. */
  account: string | undefined
  /** Exposure settings, unparsed. */
  exposure: ExposureSettings
  /** Cache lifetime of catalogs, ms. */
  catalogMs: number
  /** Bounds for watched resources: in total, and per key. */
  watched: { inAll: number; perKey: number }
}

const toolsets = toolsetsOf(toolSummaries.map(({ route }) => route)).join(', ')

export const scopeSettings = {
  account: text({
    variable: 'VOICE_AGENT_ACCOUNT',
    value: 'ID',
    help: 'The one account that all tools act on. With it, no tool takes account_id.',
  }),
  toolsets: names({
    variable: 'VOICE_AGENT_TOOLSETS',
    help: `Expose only the tools of these toolsets, separated by commas: ${toolsets}.`,
  }),
  tools: names({
    variable: 'VOICE_AGENT_TOOLS',
    help: 'Expose only these tools, separated by commas; with --toolsets, these in addition.',
  }),
  'exclude-tools': names({
    variable: 'VOICE_AGENT_EXCLUDE_TOOLS',
    help: 'Do not expose these tools, separated by commas.',
  }),
  'read-only': flag({
    variable: 'VOICE_AGENT_READ_ONLY',
    help: 'Expose only tools that read; narrows --toolsets and --tools. The variable takes true or false.',
  }),
  'catalog-ttl': seconds({
    variable: 'VOICE_AGENT_CATALOG_TTL',
    help: 'How long the catalogs of models, transcribers and voices are kept.',
    default: 300,
  }),
  'max-watched': count({
    variable: 'VOICE_AGENT_MAX_WATCHED',
    help: 'Most resources that are watched for subscriptions, in all. A resource counts once, however many watch it.',
    min: 1,
    default: 2500,
  }),
  'max-watched-per-key': count({
    variable: 'VOICE_AGENT_MAX_WATCHED_PER_KEY',
    help: 'Most resources that are watched for subscriptions with one API key.',
    min: 1,
    default: 250,
  }),
}

export function scopeConfig(texts: SettingTexts): ScopeConfig {
  const value = settingReader(scopeSettings, texts)
  const account = value('account')
  // The id becomes a part of paths; these texts would lead to another path.
  if (account !== undefined && (/[^!-~]|[/,]/.test(account) || /^\.{1,2}$/.test(account))) {
    // The message does not repeat the text, which may be a misplaced key.
    throw new ConfigError(`${settingLabel(scopeSettings, 'account')} takes the id of one account.`)
  }
  return {
    account,
    exposure: {
      toolsets: value('toolsets'),
      tools: value('tools'),
      excludeTools: value('exclude-tools'),
      readOnly: value('read-only'),
    },
    catalogMs: value('catalog-ttl'),
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
