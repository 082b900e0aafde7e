import type { AuditEntry, AuditQuery, AuditTrail } from '../../state/audit-trail.ts'
import { firstCharacters, safeJson, safeLine } from '../../text/safe-text.ts'
import { ConfigError } from '../config/config-error.ts'
import { exitCodes } from '../config/exit-codes.ts'
import {
  jsonSettings,
  limit,
  optionalChoice,
  type SettingTexts,
  settingReader,
  text,
  time,
} from '../config/setting.ts'
import { isInMemory, stateLocation, stateLocationSettings } from '../config/state.ts'
import { defineCommand, ending, type Running } from './command.ts'

/** Filters of the printed audit entries. */
const auditQuerySettings = {
  since: time('Only entries from this time on.'),
  until: time('Only entries before this time.'),
  tool: text({ value: 'NAME', help: 'Only entries of this tool.' }),
  outcome: optionalChoice({
    value: 'WORD',
    help: 'Only entries with this outcome.',
    choices: ['done', 'unchanged', 'partly', 'refused', 'failed', 'unknown', 'begun'],
    range:
      'One of done, unchanged, partly, refused, failed, unknown and begun (under way, or the server ended).',
  }),
  'key-hash': text({
    value: 'HASH',
    help: 'Only entries with this API key, by the beginning of its hash.',
  }),
  limit: limit({
    help: 'How many of the newest entries to print.',
    default: 100,
  }),
}

function auditQuery(texts: SettingTexts): AuditQuery {
  const value = settingReader(auditQuerySettings, texts)
  return {
    since: value('since'),
    until: value('until'),
    tool: value('tool'),
    outcome: value('outcome'),
    key: value('key-hash'),
    limit: value('limit') === 0 ? Number.MAX_SAFE_INTEGER : value('limit'),
  }
}

export const audit = defineCommand({
  name: 'audit',
  about: 'Print the audit trail: who changed what and who called whom, newest first.',
  examples: ['audit --since 7d', 'audit --tool place_call --outcome failed --json'],
  settings: {
    ...auditQuerySettings,
    ...jsonSettings,
    ...stateLocationSettings,
  },
  read({ texts }) {
    const state = stateLocation(texts)
    if (isInMemory(state))
      throw new ConfigError('A state in :memory: keeps no audit trail: name its --state-dir.')
    return {
      state,
      isSandbox: settingReader(stateLocationSettings, texts)('base-url') === undefined,
      query: auditQuery(texts),
      wantsJson: settingReader(jsonSettings, texts)('json'),
    }
  },
  async start(config): Promise<Running> {
    const { openState } = await import('../../server/state.ts')
    const state = await openState(config.state, config.isSandbox)
    return ending(
      printAuditTrail(state.audit, config)
        .then(() => exitCodes.done)
        .finally(() => state.close()),
    )
  },
})

const pageSize = 500

/** Prints entries to standard output, page by page. Throws StateError. */
async function printAuditTrail(
  trail: AuditTrail,
  { query, wantsJson }: { readonly query: AuditQuery; readonly wantsJson: boolean },
): Promise<void> {
  const { writeOutput } = await import('../terminal/terminal-io.ts')
  let isFirst = true
  for await (const page of pagesOf(trail, query)) {
    if (isFirst && !wantsJson) await writeOutput(`${rowText(head)}\n`)
    isFirst = false
    const lines = page.map((entry) =>
      wantsJson ? safeJson(JSON.stringify(entry)) : rowText(rowOf(entry)),
    )
    await writeOutput(`${lines.join('\n')}\n`)
  }
  if (isFirst && !wantsJson) await writeOutput('The audit trail has no such entry.\n')
}

async function* pagesOf(trail: AuditTrail, query: AuditQuery): AsyncGenerator<AuditEntry[]> {
  let before: AuditEntry | undefined
  let left = query.limit
  while (left > 0) {
    const page = await trail.list({ ...query, before, limit: Math.min(left, pageSize) })
    if (page.length === 0) return
    yield page
    left -= page.length
    before = page.at(-1)
  }
}

/** Fixed column widths, because pages are printed one by one. */
const widths = [20, 9, 19, 16, 12, 24]

const rowText = (row: readonly string[]): string =>
  safeLine(row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')).trimEnd()

const head = ['TIME', 'OUTCOME', 'TOOL', 'KEY', 'CONFIRMED BY', 'CLIENT', 'WHAT']

const rowOf = (entry: AuditEntry): string[] => [
  entry.time.replace(/\.\d+Z$/, 'Z'),
  entry.outcome,
  entry.tool,
  entry.key,
  entry.confirmation,
  clientText(entry),
  whatText(entry),
]

function clientText({ client = {}, transport }: AuditEntry): string {
  const name = client.name ?? client.user_agent ?? '?'
  return `${firstCharacters(String(name), 18)} ${transport}`
}

/** Maximum number of an entry's writes that a table row names. JSON output names all. */
const maxNamed = 3

function whatText({ reason, arguments: given, writes, failed_request: failed }: AuditEntry) {
  const named = writes.slice(0, maxNamed).map(writeText)
  const more = writes.length - named.length
  const status = failed?.status === undefined ? '' : ` HTTP ${failed.status}`
  return [
    reason && `(${reason}${status})`,
    ...named,
    more > 0 && `and ${more} more`,
    writes.length === 0 && argumentsText(given),
  ]
    .filter(Boolean)
    .join(' ')
}

/** Maximum length of the arguments in a table row, characters. */
const longestArguments = 120

/**
 * Formats the arguments of a tool call that sent no change. Arguments that are objects or lists
 * appear by name only.
 */
function argumentsText(given: AuditEntry['arguments']): string {
  const parts = Object.entries(Object(given)).map(([name, value]) =>
    typeof value === 'object' ? name : `${name} ${value}`,
  )
  const text = parts.join(', ')
  const shown = firstCharacters(text, longestArguments)
  return shown === text ? text : `${shown}…`
}

function writeText(write: AuditEntry['writes'][number]): string {
  const { operation, ids = {}, to_number, made_id, outcome, status } = write
  const facts = [
    ...Object.values(ids),
    to_number,
    made_id && `-> ${made_id}`,
    outcome !== 'done' && `${outcome}${status === undefined ? '' : ` HTTP ${status}`}`,
  ]
  return `${[operation, ...facts.filter(Boolean)].join(' ')};`
}
