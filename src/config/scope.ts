import { type ExposureSettings, toolsetsOf } from '../mcp/protocol/exposure.ts'
import { toolSummaries } from '../service/tool-summaries.ts'
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

/** How much of the platform assistants get. */
export interface ScopeConfig {
  /** The one account that all tools act on; `undefined`: the one a caller names, or the key's own. */
  account: string | undefined
  /** Which tools are exposed, as the operator wrote it: see exposed-tools.ts. */
  exposure: ExposureSettings
  /** How long catalogs are kept before they are read again, ms. */
  catalogMs: number
  /** Resources that are watched at the same time, in all and with one key. */
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
    help: 'Of all these, expose only tools that read. The variable takes true or false.',
  }),
  'catalog-ttl': seconds({
    variable: 'VOICE_AGENT_CATALOG_TTL',
    help: 'How long the catalogs of models, transcribers and voices are kept.',
    default: 300,
  }),
  'max-watched': count({
    variable: 'VOICE_AGENT_MAX_WATCHED',
    help: 'Most resources that are watched for subscriptions, in all. A resource counts once, however many watch it.',
    least: 1,
    default: 2500,
  }),
  'max-watched-per-key': count({
    variable: 'VOICE_AGENT_MAX_WATCHED_PER_KEY',
    help: 'Most resources that are watched for subscriptions with one API key.',
    least: 1,
    default: 250,
  }),
}

export function scopeConfig(texts: SettingTexts): ScopeConfig {
  const value = settingReader(scopeSettings, texts)
  const account = value('account')
  // The id becomes a part of paths; these texts would lead to another path.
  if (account !== undefined && (/[^!-~]|[/,]/.test(account) || /^\.{1,2}$/.test(account))) {
    // Not repeated: it may be a key that was put into the wrong variable.
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
