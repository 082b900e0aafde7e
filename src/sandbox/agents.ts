import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { type Agent, AgentCreate, type AgentUpdate } from '../contract/agent.ts'
import { documentedDefaults } from '../contract/field.ts'
import { routes } from '../contract/routes.ts'
import { on, pageOfRows } from './handler.ts'
import { notFound } from './problem.ts'
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
  const sql = 'SELECT * FROM agents WHERE id = :id AND account_id = :accountId'
  return store.get(AgentRow, sql, { id, accountId })
}

function agent(store: Store, accountId: string, id: string): AgentRow {
  const found = findAgent(store, accountId, id)
  if (!found) throw notFound('Agent', id)
  return found
}

const rangeFilters = ['created', 'modified'].flatMap((column) =>
  Object.entries({ gt: '>', ge: '>=', lt: '<', le: '<=' }).map(([suffix, operator]) => ({
    name: `${column}_${suffix}`,
    condition: `${column} ${operator} :${column}_${suffix}`,
  })),
)

export const agentHandlers = [
  on(routes.agents.create, ({ store, account, body, now }) =>
    view(createAgent(store, { accountId: account.id, body, now })),
  ),

  on(routes.agents.list, ({ store, account, query }) => {
    const { limit, offset, ...filters } = query
    const ranges = rangeFilters.filter(({ name }) => Reflect.get(filters, name) !== undefined)
    return pageOfRows(
      store,
      AgentRow,
      {
        table: 'agents',
        where: [
          'account_id = :account',
          query.name !== undefined && 'instr(name_folded, :name) > 0',
          query.tags !== undefined && everyTag,
          archivedCondition(query),
          ...ranges.map(({ condition }) => condition),
        ],
        params: {
          account: account.id,
          name: query.name?.toLowerCase() ?? null,
          tags: JSON.stringify(query.tags ?? []),
          ...Object.fromEntries(
            ranges.map(({ name }) => [name, Date.parse(String(Reflect.get(filters, name)))]),
          ),
        },
        page: { limit, offset },
      },
      view,
    )
  }),

  on(routes.agents.get, ({ store, account, params }) =>
    view(agent(store, account.id, params.agent_id)),
  ),

  on(routes.agents.update, ({ store, account, params, body, now }) =>
    store.transaction(() => {
      const before = agent(store, account.id, params.agent_id)
      const config = updated(before.config, body)
      const is_archived = body.is_archived === undefined ? before.is_archived : 0
      const after = { ...before, config, is_archived, modified: now }
      store.run(
        `UPDATE agents SET name_folded = :name, config = :config, is_archived = :is_archived,
         modified = :modified WHERE id = :id`,
        {
          id: after.id,
          name: folded(config),
          config: JSON.stringify(config),
          is_archived,
          modified: now,
        },
      )
      return view(after)
    }),
  ),

  on(routes.agents.archive, ({ store, account, params, now }) => {
    const { id } = agent(store, account.id, params.agent_id)
    store.run('UPDATE agents SET is_archived = 1, modified = :now WHERE id = :id', { id, now })
    return undefined
  }),
]

const everyTag = `NOT EXISTS (
  SELECT 1 FROM json_each(:tags) AS wanted
  WHERE wanted.value NOT IN (SELECT value FROM json_each(agents.config, '$.tags'))
)`

/** Archived agents are listed only on request [R]. */
function archivedCondition(query: {
  is_archived?: boolean | undefined
  include_archived?: boolean | undefined
}): string | false {
  if (query.is_archived !== undefined) return `is_archived = ${Number(query.is_archived)}`
  return !query.include_archived && 'is_archived = 0'
}

const folded = (config: Record<string, unknown>) => String(config.name ?? '').toLowerCase()

/**
 * A partial update: absent fields stay, and only model, transcriber and voice are merged with the
 * stored value [R]. Any other object replaces the stored one; its absent and null fields get their
 * defaults [S]. A client that relies on more would lose settings on a platform that does this.
 */
function updated(
  stored: Readonly<Record<string, unknown>>,
  { model, transcriber, voice, is_archived: _, ...replaced }: AgentUpdate,
): Record<string, unknown> {
  const whole = Object.entries(replaced).map(([name, given]) => {
    const value = withoutResets(AgentCreate.shape[name as keyof typeof replaced], given)
    const defaults = creationDefaults[name]
    const hasDefaults = isPlainObject(value) && isPlainObject(defaults)
    return [name, hasDefaults ? merge(defaults, value) : (value ?? defaults)]
  })
  return withoutNullParts(
    merge({ ...stored, ...Object.fromEntries(whole) }, { model, transcriber, voice }),
  )
}

/** A null field of model, transcriber or voice counts as absent. */
const withoutNullParts = (config: Record<string, unknown>): Record<string, unknown> => ({
  ...config,
  ...Object.fromEntries(
    ['model', 'transcriber', 'voice'].flatMap((name) => {
      const part = config[name]
      return isPlainObject(part) ? [[name, withoutNulls(part)]] : []
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
  store.run(
    `INSERT INTO agents (id, account_id, name_folded, created, modified, config)
     VALUES (:id, :accountId, :name, :now, :now, :config)`,
    { id, accountId, name: folded(config), now, config: JSON.stringify(config) },
  )
  return row
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object without null fields, at every depth. */
const withoutNulls = (object: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(object)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, isPlainObject(value) ? withoutNulls(value) : value]),
  )

/**
 * Drops the nulls that mean a default. A null that is a value of the field itself stays, such as no
 * background sound.
 */
function withoutResets(field: z.core.$ZodType | undefined, value: unknown): unknown {
  if (field instanceof z.ZodOptional || field instanceof z.ZodNullable)
    return withoutResets(field.unwrap(), value)
  if (!(field instanceof z.ZodObject) || !isPlainObject(value)) return value
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
    merged[name] = isPlainObject(value) && isPlainObject(before) ? merge(before, value) : value
  }
  return merged
}
