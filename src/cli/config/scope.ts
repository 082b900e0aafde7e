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
  withVariables,
} from './setting.ts'

const toolsets = toolsetsOf(toolSummaries.map(({ route }) => route)).join(', ')

export const scopeSettings = withVariables({
  account: text({
    value: 'ID',
    help: 'The one account that all tools act on. With it, no tool takes account_id.',
  }),
  toolsets: names({
    help: `Expose only the tools of these toolsets, separated by commas: ${toolsets}.`,
  }),
  tools: names({
    help: 'Expose only these tools, separated by commas; with --toolsets, these in addition.',
  }),
  'exclude-tools': names({
    help: 'Do not expose these tools, separated by commas.',
  }),
  'read-only': flag({
    help: 'Expose only tools that read; narrows --toolsets and --tools. The variable takes true or false.',
  }),
  'catalog-ttl': seconds({
    help: 'How long the catalogs of models, transcribers and voices are kept.',
    default: 300,
  }),
  'max-watched': count({
    help: 'Most resources that are watched for subscriptions, in all. A resource counts once, however many watch it.',
    default: 2500,
  }),
  'max-watched-per-key': count({
    help: 'Most resources that are watched for subscriptions with one API key.',
    default: 250,
  }),
})

/** Account and tools that assistants get. */
export function scopeConfig(texts: SettingTexts) {
  const value = settingReader(scopeSettings, texts)
  const account = value('account')
  // The id becomes a part of paths; these texts would lead to another path.
  if (account !== undefined && (/[^!-~]|[/,]/.test(account) || /^\.{1,2}$/.test(account))) {
    // The message does not repeat the text, which may be a misplaced key.
    throw new ConfigError(`${settingLabel(scopeSettings, 'account')} takes the id of one account.`)
  }
  return {
    /** Pinned account of all tools; `undefined`: the caller's choice, or the key's own. */
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
    /** Bounds for watched resources: in total, and per key. */
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
