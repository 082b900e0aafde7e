import * as z from 'zod'
import { ApiError } from '../api/failure.ts'
import { voiceProviders } from '../contract/provider.ts'
import { routes } from '../contract/routes.ts'
import { isUuid } from '../mcp/hints/agent-names.ts'
import type { RestrictedSession } from '../session/restricted-session.ts'
import { safeLine } from '../text/safe-text.ts'
import { type Listed, listed } from './listed.ts'
import { timeZones } from './zones.ts'

/** What an argument may become, and what people call it. */
export interface Candidate {
  readonly value: string
  readonly names: readonly (string | null | undefined)[]
}

export interface Candidates {
  readonly all: readonly Candidate[]
  /** There are more than were read. */
  readonly isPart: boolean
}

interface Asking {
  readonly session: RestrictedSession
  readonly account: string
  /** Prompts take names where a resource's address takes ids only. */
  readonly isPrompt: boolean
}

/** Where the values of an argument come from; one name means one thing wherever it stands. */
const sources: Readonly<Record<string, (asking: Asking) => Promise<Candidates>>> = {
  account_id: accounts,
  agent_id: agents,
  provider: providers,
  language: languages,
  tz: async () => ({ all: timeZones(), isPart: false }),
  call_id: calls,
  from_number: numbers,
  from_trunk_id: trunks,
  to_trunk_id: trunks,
}

/** What there is for an argument; nothing for one that is free text, or unknown. */
export const candidatesFor = async (argument: string, asking: Asking): Promise<Candidates> =>
  Object.hasOwn(sources, argument) && sources[argument]
    ? sources[argument](asking)
    : { all: [], isPart: false }

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** What can be shown as it is to whoever types. A name that looks like an id is taken for one. */
export const isOneLine = (value: string) => safeLine(value) === value

/** Names where a name stands for one thing only and everything was seen; ids otherwise. */
function namedOrIds({ items, isPart }: Listed, mayUseNames: boolean): Candidates {
  const counts = new Map<unknown, number>()
  for (const { name } of items) counts.set(name, (counts.get(name) ?? 0) + 1)
  const ids = new Set(items.map(({ id }) => id))
  const all = items.flatMap(({ id, name: given }) => {
    const [value, name] = [text(id), text(given)]
    if (value === undefined) return []
    const stands = name !== undefined && counts.get(name) === 1 && !ids.has(name) && !isUuid(name)
    // Arguments are trimmed, so a name with spaces around it would not be found again.
    return mayUseNames && !isPart && stands && name.trim() === name && isOneLine(name)
      ? [{ value: name, names: [value] }]
      : [{ value, names: [name] }]
  })
  return { all, isPart }
}

async function agents(asking: Asking): Promise<Candidates> {
  return namedOrIds(await listed(routes.agents.list, asking), asking.isPrompt)
}

async function trunks(asking: Asking): Promise<Candidates> {
  return namedOrIds(await listed(routes.sipTrunks.list, asking), false)
}

async function accounts(asking: Asking): Promise<Candidates> {
  const { session } = asking
  // The operator's choice is the only one.
  if (session.account !== undefined)
    return { all: [{ value: session.account, names: [] }], isPart: false }
  const [own, below] = await Promise.all([
    session.cache
      .read(routes.accounts.current, { params: {}, query: {} }, 'account')
      .catch(nothingOf),
    listed(routes.accounts.listSubaccounts, { ...asking, account: 'me' }).catch(nothingOf),
  ])
  const subaccounts = below ? namedOrIds(below, false) : { all: [], isPart: false }
  return {
    ...subaccounts,
    all: [...(own ? [{ value: own.id, names: [own.name] }] : []), ...subaccounts.all],
  }
}

/** Half of what there is is better than none. */
function nothingOf(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error
}

async function numbers(asking: Asking): Promise<Candidates> {
  const { items, isPart } = await listed(routes.phoneNumbers.list, asking)
  const all = items.flatMap(({ number, friendly_name }) => {
    const value = text(number)
    return value === undefined ? [] : [{ value, names: [text(friendly_name), value.slice(1)] }]
  })
  return { all, isPart }
}

/** The newest calls; those that failed first, because they are what is looked into. */
async function calls(asking: Asking): Promise<Candidates> {
  const { items, isPart } = await listed(routes.calls.list, asking, 1)
  const hasFailed = ({ status }: Readonly<Record<string, unknown>>) => (status === 'failed' ? 0 : 1)
  const all = [...items]
    .sort((a, b) => hasFailed(a) - hasFailed(b))
    .flatMap(({ id, agent_name, from_number, to_number, external_id }) => {
      const value = text(id)
      const names = [agent_name, from_number, to_number, external_id].map(text)
      return value === undefined ? [] : [{ value, names }]
    })
  return { all, isPart }
}

/** Voice providers, which no catalog lists: those that are known and those that agents use. */
async function providers(asking: Asking): Promise<Candidates> {
  const used = await listed(routes.agents.list, asking).catch(nothingOf)
  const Voiced = z.object({ voice: z.object({ provider: z.string() }) })
  const codes = (used?.items ?? []).flatMap((agent) => {
    const parsed = Voiced.safeParse(agent)
    return parsed.success ? [parsed.data.voice.provider] : []
  })
  const all = [...new Set([...voiceProviders, ...codes])].map((value) => ({ value, names: [] }))
  return { all, isPart: false }
}

async function languages({ session: { cache }, account }: Asking): Promise<Candidates> {
  const request = { params: { account_id: account }, query: {} }
  const catalog = await cache.read(routes.providers.transcribers, request, 'catalog')
  const byCode = new Map<string, Candidate>()
  for (const { code, name } of catalog
    .flatMap(({ models }) => models)
    .flatMap(({ supported_languages }) => supported_languages ?? [])) {
    if (!byCode.has(code)) byCode.set(code, { value: code, names: [name] })
  }
  const all = [...byCode.values()].sort((a, b) => (a.value < b.value ? -1 : 1))
  return { all, isPart: false }
}
