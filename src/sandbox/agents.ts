import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { type Agent, AgentCreate, type AgentUpdate } from '../contract/agent.ts'
import { documentedDefaults } from '../contract/field.ts'
import { routes } from '../contract/routes.ts'
import { isObject } from '../text/json.ts'
import { on } from './operation-handler.ts'
import { notFound } from './problem.ts'
import { instant, pageOfRows } from './row-pages.ts'
import type { Store } from './store.ts'

const AgentRow = z.object({
  id: z.string(),
  account_id: z.string(),
  is_archived: z.int(),
  created: z.int(),
  modified: z.int(),
  config: z.string().transform((text) => z.record(z.string(), z.unknown()).parse(JSON.parse(text))),
})
export type AgentRow = z.output<typeof AgentRow>

function view({ config, ...row }: AgentRow): Agent {
  return {
    id: row.id,
    account_id: row.account_id,
    ...config,
    is_archived: row.is_archived === 1,
    created: new Date(row.created).toISOString(),
    modified: new Date(row.modified).toISOString(),
  }
}

/** Defaults of a new agent [B, R]. */
const creationDefaults: Readonly<Record<string, unknown>> = {
  name: '',
  note: null,
  tags: [],
  metadata: {},
  allow_auto_hangup: false,
  allow_caller_recording_opt_out: false,
  ...documentedDefaults(AgentCreate),
}

/** Includes archived agents. */
export function findAgent(store: Store, accountId: string, id: string): AgentRow | undefined {
  return store.find(AgentRow, 'agents', { id, account_id: accountId })
}

function agent(store: Store, accountId: string, id: string): AgentRow {
  const found = findAgent(store, accountId, id)
  if (!found) throw notFound('Agent', id)
  return found
}

export const agentHandlers = [
  on(routes.agents.create, ({ store, account, body, now }) =>
    view(createAgent(store, { accountId: account.id, body, now })),
  ),

  on(routes.agents.list, ({ store, account, query }) =>
    pageOfRows(store, AgentRow, view, {
      table: 'agents',
      where: {
        'account_id = ?': account.id,
        'instr(name_folded, ?) > 0': query.name?.toLowerCase(),
        [everyTag]: query.tags && JSON.stringify(query.tags),
        'is_archived = ?': isArchivedIn(query),
        'created > ?': instant(query.created_gt),
        'created >= ?': instant(query.created_ge),
        'created < ?': instant(query.created_lt),
        'created <= ?': instant(query.created_le),
        'modified > ?': instant(query.modified_gt),
        'modified >= ?': instant(query.modified_ge),
        'modified < ?': instant(query.modified_lt),
        'modified <= ?': instant(query.modified_le),
      },
      page: query,
    }),
  ),

  on(routes.agents.get, ({ store, account, params }) =>
    view(agent(store, account.id, params.agent_id)),
  ),

  on(routes.agents.update, ({ store, account, params, body, now }) =>
    store.transaction(() => {
      const before = agent(store, account.id, params.agent_id)
      const config = updated(before.config, body)
      const is_archived = body.is_archived === undefined ? before.is_archived : 0
      const after = { ...before, config, is_archived, modified: now }
      const columns = { name_folded: folded(config), config: JSON.stringify(config) }
      store.update('agents', after.id, { ...columns, is_archived, modified: now })
      return view(after)
    }),
  ),

  on(routes.agents.archive, ({ store, account, params, now }) => {
    const { id } = agent(store, account.id, params.agent_id)
    store.update('agents', id, { is_archived: 1, modified: now })
    return undefined
  }),
]

const everyTag = `NOT EXISTS (
  SELECT 1 FROM json_each(?) AS wanted
  WHERE wanted.value NOT IN (SELECT value FROM json_each(agents.config, '$.tags'))
)`

/** Archived agents are listed only on request [R]; `undefined`: all agents. */
function isArchivedIn(query: {
  is_archived?: boolean | undefined
  include_archived?: boolean | undefined
}): number | undefined {
  if (query.is_archived !== undefined) return Number(query.is_archived)
  return query.include_archived ? undefined : 0
}

const folded = (config: Record<string, unknown>) => String(config.name ?? '').toLowerCase()

/**
 * A partial update. Absent fields stay. Only model, transcriber and voice are merged with the
 * stored value [R]. Any other object replaces the stored object, and its absent and null fields get
 * their defaults [S]. A client that expects deeper merging would lose settings on a platform with
 * this behaviour.
 */
function updated(
  stored: Readonly<Record<string, unknown>>,
  { model, transcriber, voice, is_archived: _, ...replaced }: AgentUpdate,
): Record<string, unknown> {
  const whole = Object.entries(replaced).map(([name, given]) => {
    const value = withoutResets(AgentCreate.shape[name as keyof typeof replaced], given)
    const defaults = creationDefaults[name]
    const hasDefaults = isObject(value) && isObject(defaults)
    return [name, hasDefaults ? merge(defaults, value) : (value ?? defaults)]
  })
  return withoutNullParts(
    merge({ ...stored, ...Object.fromEntries(whole) }, { model, transcriber, voice }),
  )
}

/** Removes null fields of model, transcriber and voice, where null counts as absent. */
const withoutNullParts = (config: Record<string, unknown>): Record<string, unknown> => ({
  ...config,
  ...Object.fromEntries(
    ['model', 'transcriber', 'voice'].flatMap((name) => {
      const part = config[name]
      return isObject(part) ? [[name, withoutNulls(part)]] : []
    }),
  ),
})

/** Stores a new agent with every default filled in. */
export function createAgent(
  store: Store,
  {
    accountId,
    body,
    now,
    id = randomUUID(),
  }: {
    accountId: string
    body: Record<string, unknown>
    now: number
    id?: string
  },
): AgentRow {
  // Null means the default [S].
  const given = Object.entries(body).flatMap(([name, value]) =>
    value === null
      ? []
      : [[name, withoutResets(AgentCreate.shape[name as keyof AgentCreate], value)]],
  )
  const config = withoutNullParts(merge(creationDefaults, Object.fromEntries(given)))
  const row = { id, account_id: accountId, is_archived: 0, created: now, modified: now, config }
  store.insert('agents', {
    ...row,
    name_folded: folded(config),
    config: JSON.stringify(config),
  })
  return row
}

/** Removes null fields at every depth. */
const withoutNulls = (object: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(object)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, isObject(value) ? withoutNulls(value) : value]),
  )

/**
 * Drops nulls that mean "default". A null that is a valid value stays, such as no background sound.
 * In contract/agent.ts the outermost wrapper tells the two apart: `nullable` means "default".
 */
function withoutResets(field: z.core.$ZodType | undefined, value: unknown): unknown {
  if (field instanceof z.ZodOptional || field instanceof z.ZodNullable)
    return withoutResets(field.unwrap(), value)
  if (!(field instanceof z.ZodObject) || !isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).filter(
      ([name, inner]) => inner !== null || !(field.shape[name] instanceof z.ZodNullable),
    ),
  )
}

/** Merges a partial update into a stored object: objects field by field, other values replaced. */
export function merge(
  stored: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = { ...stored }
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || name === '__proto__') continue
    const before = merged[name]
    merged[name] = isObject(value) && isObject(before) ? merge(before, value) : value
  }
  return merged
}
