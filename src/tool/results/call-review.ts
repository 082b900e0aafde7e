import * as z from 'zod'
import { counted, nameWithId } from '../../text/labels.ts'
import { firstCharacters } from '../../text/safe-text.ts'
import { timeIn } from '../../text/time-zone.ts'
import { estimateTokens } from '../../text/token-estimate.ts'
import type { ListItem } from '../lists/list-result.ts'
import type { CallReview, PartOfReview } from '../lists/read-call-review.ts'
import type { ListExtent, OwnedItem } from '../lists/several-accounts.ts'
import type { StructuredContent } from '../tool.ts'
import { answerInWords } from './call-report.ts'
import { resultBudget } from './shortening.ts'
import { isoOf, rangeInWords, signed } from './usage-report.ts'

/*
 * A review of calls: counts by outcome, agent, number and account, against the period before, with
 * the ids of some calls as evidence. It only counts: it neither judges nor quotes speech.
 */

const figures = {
  calls: z.int().nullable().describe('null: unknown, because no call could be read.'),
  before: z.int().nullable().describe('In the time before; null: unknown.'),
  change: z.int().nullable().describe('Difference; null: unknown, because one of both is partial.'),
}
const Figures = z.object(figures)
type Figures = z.output<typeof Figures>

const counts = z
  .record(z.string(), Figures)
  .describe('all, and each status; unknown: the platform gives none.')

const Evidence = z
  .looseObject({ id: z.string() })
  .describe('Of the first three also created, agent_name, from_number, to_number.')

const groups = <T extends z.ZodRawShape>(key: T) => z.array(z.object({ ...key, counts }))

/** A review as data. */
export const CallReviewResult = z.object({
  start: z.string(),
  end: z.string().describe('Not included.'),
  tz: z.string(),
  partial: z.boolean().describe('Not all calls were read: counts are the least.'),
  before: z
    .looseObject({ start: z.string(), partial: z.boolean() })
    .describe('The time before, until start.'),
  counts,
  by_outcome: z.array(
    z.object({
      status: z.string().describe('unknown: the platform gives none.'),
      answer_status: z.string().describe('Likewise.'),
      ...figures,
      evidence: z.array(Evidence),
    }),
  ),
  by_agent: groups({
    id: z.string().nullable().describe('null: unknown.'),
    name: z.string().optional(),
  }),
  by_number: groups({ number: z.string().describe('Your own, not that of the other side.') }),
  by_account: groups({ id: z.string(), name: z.string().optional() }).optional(),
})

/**
 * Number of calls per outcome that are shown with time, agent and numbers. Further calls are shown
 * by id.
 */
export const detailedCalls = 3

interface ReviewOptions {
  /** Maximum number of ids per answer status of failed calls. Other outcomes show three ids. */
  readonly evidence: number
  /** Maximum tokens of the lines. */
  readonly budget?: number
}

/**
 * Maximum number of groups per kind at first. A review that is still too long is shortened further.
 */
const maxGroups = 100

/** A review as data and as lines, with as many groups and ids as fit. */
export function reviewResult(
  review: CallReview,
  { evidence, budget = resultBudget * 0.95 }: ReviewOptions,
): {
  readonly structured: StructuredContent
  readonly lines: string[]
  readonly note: string | undefined
} {
  for (let share = 1; ; share *= 0.7) {
    const cut = {
      evidence: Math.min(evidence, Math.max(detailedCalls, Math.round(evidence * share))),
      groups: Math.max(5, Math.round(maxGroups * share)),
    }
    const parts = partsOf(review, cut)
    const lines = linesOf(review, parts)
    if (estimateTokens(lines.join('\n'), budget) > budget && share > 0.01) continue
    return { structured: contentOf(review, parts), lines, note: evidenceNote(parts, evidence) }
  }
}

/** Says how to get the ids of all failed calls, if only some are shown. */
function evidenceNote({ outcomes, evidence }: Parts, asked: number): string | undefined {
  const max = Math.max(0, ...outcomes.shown.filter(isFailed).map(({ now }) => now.length))
  if (max <= evidence) return undefined
  return evidence < asked
    ? `Shortened to ${evidence} ids of failed calls for each answer: list_calls with status failed lists all.`
    : `evidence: ${max} gives the ids of all these failed calls.`
}

/** Calls of the period and of the period before. */
interface Calls {
  readonly now: readonly OwnedItem[]
  readonly before: readonly OwnedItem[]
}

/** Calls with the same outcome, agent or number. */
interface Group extends Calls {
  readonly key: string
}

interface Cut {
  readonly evidence: number
  readonly groups: number
}

/** The groups of one kind. The largest groups are shown, and the others summed up. */
interface Groups {
  readonly shown: readonly Group[]
  readonly others: readonly Group[]
}

interface Parts extends Cut {
  readonly outcomes: Groups
  readonly agents: Groups
  readonly numbers: Groups
  /** Statuses that occur in either period. */
  readonly statuses: readonly string[]
}

const unknown = 'unknown'
const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
const keyOf = (value: unknown) => textOf(value) ?? unknown

/** A status as a key. Not all statuses are published, so a long text is shortened. */
const shortKeyOf = (value: unknown) => firstCharacters(keyOf(value), 60)
const statusOf = ({ item }: OwnedItem) => shortKeyOf(item.status)
const answerOf = ({ item }: OwnedItem) => shortKeyOf(item.answer_status)
const outcomeOf = (call: OwnedItem) => JSON.stringify([statusOf(call), answerOf(call)])
const agentOf = ({ item }: OwnedItem) => keyOf(item.agent_id)

/**
 * The account's own phone number: the called number of an inbound call, the caller number of an
 * outbound call.
 */
function numberOf({ item }: OwnedItem): string {
  const { type, direction, from_number, to_number } = item
  if (type === 'web' && !textOf(from_number) && !textOf(to_number)) return 'none (web call)'
  if (direction === 'inbound') return keyOf(to_number)
  return direction === 'outbound' ? keyOf(from_number) : unknown
}

/** The first call of a group, which shows what all calls of the group have in common. */
const firstOf = ({ now, before }: Calls) => now[0] ?? before[0]
const isFailed = (outcome: Group) => firstOf(outcome)?.item.status === 'failed'

function partsOf(review: CallReview, cut: Cut): Parts {
  const groups = (key: (call: OwnedItem) => string) => groupsOf(review, key)
  const limited = (all: readonly Group[]) => ({
    shown: all.slice(0, cut.groups),
    others: all.slice(cut.groups),
  })
  const outcomes = groups(outcomeOf)
  const statuses = groups(statusOf).map(({ key }) => key)
  return {
    outcomes: limited([
      ...outcomes.filter(isFailed),
      ...outcomes.filter((outcome) => !isFailed(outcome)),
    ]),
    agents: limited(groups(agentOf)),
    numbers: limited(groups(numberOf)),
    statuses: [...new Set([...usualStatuses.filter((one) => statuses.includes(one)), ...statuses])],
    ...cut,
  }
}

const usualStatuses = ['completed', 'transferred', 'failed']

/** Groups calls by key, largest group first. */
function groupsOf({ now, before }: CallReview, keyOf: (call: OwnedItem) => string): Group[] {
  const [later, earlier] = [now, before].map(({ calls }) => Map.groupBy(calls, keyOf))
  return [...new Set([...(later?.keys() ?? []), ...(earlier?.keys() ?? [])])]
    .map((key) => ({ key, now: later?.get(key) ?? [], before: earlier?.get(key) ?? [] }))
    .sort((a, b) => b.now.length - a.now.length || b.before.length - a.before.length)
}

/** How completely the calls of one account, or of all accounts, were read. */
interface Extents {
  readonly now: ListExtent
  readonly before: ListExtent
}

const extentsOf = (review: CallReview, id?: string): Extents => ({
  now: extentOf(review.now, id),
  before: extentOf(review.before, id),
})

function extentOf({ extents, isPart }: PartOfReview, id?: string): ListExtent {
  if (id !== undefined) return extents.get(id) ?? 'none'
  if ([...extents.values()].every((one) => one === 'none')) return 'none'
  return isPart ? 'part' : 'all'
}

function figuresOf({ now, before }: Calls, extents: Extents): Figures {
  const isWhole = extents.now === 'all' && extents.before === 'all'
  return {
    calls: extents.now === 'none' ? null : now.length,
    before: extents.before === 'none' ? null : before.length,
    change: isWhole ? now.length - before.length : null,
  }
}

type Statuses = Parts['statuses']

function statusFigures({ now, before }: Calls, extents: Extents, statuses: Statuses) {
  const of = (calls: readonly OwnedItem[], status: string) =>
    calls.filter((call) => statusOf(call) === status)
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      figuresOf({ now: of(now, status), before: of(before, status) }, extents),
    ]),
  )
}

const ofAccount = ({ now, before }: CallReview, id: string): Calls => ({
  now: now.calls.filter(({ account }) => account.id === id),
  before: before.calls.filter(({ account }) => account.id === id),
})

/**
 * Calls that show an outcome: `evidence` calls of a failure, at most three of any other outcome.
 */
const evidenceOf = (outcome: Group, { evidence }: Pick<Parts, 'evidence'>) =>
  outcome.now
    .slice(0, isFailed(outcome) ? evidence : Math.min(evidence, detailedCalls))
    .map(({ item }) => item)

function contentOf(review: CallReview, parts: Parts): StructuredContent {
  const { now, before, zone, accounts } = review
  const extents = extentsOf(review)
  const dataOf = (group: Calls, own = extents) => ({
    counts: { all: figuresOf(group, own), ...statusFigures(group, own, parts.statuses) },
  })
  return {
    ...{ start: isoOf(now.start), end: isoOf(now.end), tz: zone, partial: now.isPart },
    before: {
      ...{ start: isoOf(before.start), end: isoOf(before.end), partial: before.isPart },
    },
    ...dataOf({ now: now.calls, before: before.calls }),
    by_outcome: parts.outcomes.shown.map((outcome) => ({
      ...outcomeIn(outcome),
      ...figuresOf(outcome, extents),
      evidence: evidenceOf(outcome, parts).map(
        ({ id, created, agent_name, from_number, to_number }, at) =>
          at < detailedCalls ? { id, created, agent_name, from_number, to_number } : { id },
      ),
    })),
    by_agent: parts.agents.shown.map((agent) => ({
      id: agent.key === unknown ? null : agent.key,
      ...(nameIn(agent) !== undefined && { name: nameIn(agent) }),
      ...dataOf(agent),
    })),
    by_number: parts.numbers.shown.map((number) => ({ number: number.key, ...dataOf(number) })),
    ...(accounts.length > 1 && {
      by_account: accounts.slice(0, parts.groups).map(({ id, name }) => ({
        ...{ id, ...(name && { name }) },
        ...dataOf(ofAccount(review, id), extentsOf(review, id)),
      })),
    }),
  }
}

const outcomeIn = (outcome: Group) => {
  const call = firstOf(outcome)
  return {
    status: call ? statusOf(call) : unknown,
    answer_status: call ? answerOf(call) : unknown,
  }
}

const nameIn = ({ now, before }: Group) =>
  [...now, ...before].map(({ item }) => textOf(item.agent_name)).find(Boolean)

function linesOf(review: CallReview, parts: Parts): string[] {
  const { now, before, zone, accounts } = review
  const extents = extentsOf(review)
  const all = { now: now.calls, before: before.calls }
  const { calls, before: earlier, change } = figuresOf(all, extents)
  const rowOf = (label: string, group: Calls, own = extents) =>
    `- ${label}: ${figuresInWords(figuresOf(group, own))}: ${statusesInWords(group, own, parts)}`
  const section = (
    title: string,
    { shown, others }: Groups,
    lineOf: (group: Group) => string = (group) => rowOf(group.key, group),
  ) => [
    `By ${title}:`,
    ...shown.map(lineOf),
    ...(others.length > 0 ? [rowOf(`${others.length} others`, sumOf(others))] : []),
  ]
  const head = [
    `${rangeInWords(now, zone)}: ${countInWords(calls, extents.now)} of ${accounts.length > 1 ? 'the account and its subaccounts' : 'the account'}${review.isFiltered ? ', of those that match the filters' : ''}.`,
    `In brackets the time before, ${rangeInWords(before, zone)}: ${countInWords(earlier, extents.before)}${change === null ? '; the change is unknown' : `; change ${signed(change)}`}.`,
  ]
  if (parts.statuses.length === 0 && accounts.length < 2) return head
  return [
    ...head,
    `By status: ${Object.entries(statusFigures(all, extents, parts.statuses))
      .map(([status, figures]) => `${status} ${figuresInWords(figures)}`)
      .join(', ')}.`,
    ...section('outcome, with calls as evidence, the latest first', parts.outcomes, (outcome) =>
      outcomeRow(outcome, review, parts),
    ),
    ...section('agent', parts.agents, (agent) =>
      rowOf(nameWithId(nameIn(agent), agent.key), agent),
    ),
    ...section('own number', parts.numbers),
    ...(accounts.length > 1
      ? [
          'By account:',
          ...accounts.slice(0, parts.groups).map(({ id, name }) => {
            const own = extentsOf(review, id)
            const isPart = own.now !== 'all' || own.before !== 'all'
            return (
              rowOf(nameWithId(name, id), ofAccount(review, id), own) + (isPart ? ' (partial)' : '')
            )
          }),
        ]
      : []),
  ]
}

const sumOf = (groups: readonly Group[]): Calls => ({
  now: groups.flatMap(({ now }) => now),
  before: groups.flatMap(({ before }) => before),
})

function countInWords(count: number | null, extent: ListExtent): string {
  if (count === null) return 'unknown'
  return extent === 'all' ? counted(count, 'call') : `at least ${counted(count, 'call')} (partial)`
}

const orUnknown = (count: number | null) => count ?? unknown

/** A number now, before, and the change: `14 (12, +2)`. Omits a change that is not known. */
const figuresInWords = ({ calls, before, change }: Figures) =>
  `${orUnknown(calls)} (${orUnknown(before)}${change === null ? '' : `, ${signed(change)}`})`

/** Counts by status, now and before: `completed 12 (9), failed 0 (2)`. */
const statusesInWords = (group: Calls, extents: Extents, { statuses }: Parts) =>
  Object.entries(statusFigures(group, extents, statuses))
    .map(([status, figures]) => `${status} ${figuresInWords({ ...figures, change: null })}`)
    .join(', ')

/** A line for an outcome: its numbers, some calls in detail, and ids of more. */
function outcomeRow(outcome: Group, review: CallReview, parts: Parts): string {
  const { status, answer_status } = outcomeIn(outcome)
  const shown = evidenceOf(outcome, parts)
  const more = shown.slice(detailedCalls).map(({ id }) => String(id))
  const evidence = [
    ...shown.slice(0, detailedCalls).map((call) => evidenceInWords(call, review.zone)),
    ...(more.length > 0 ? [`more: ${more.join(', ')}`] : []),
  ]
  return [
    `- ${status}, ${answerInWords(answer_status)}: ${figuresInWords(figuresOf(outcome, extentsOf(review)))}`,
    ...evidence,
  ].join('; ')
}

/** A call as evidence: `<id> 2026-11-13 09:20 Recall reminders, +12025550110 to +13035550141`. */
function evidenceInWords(call: ListItem, zone: string): string {
  const { id, type, created, agent_name, from_number, to_number } = call
  const time = Date.parse(String(created))
  const numbers = [from_number, to_number].map(textOf)
  const facts = [id, Number.isNaN(time) ? undefined : timeIn(time, zone), textOf(agent_name)]
  const line = numbers.some(Boolean)
    ? numbers.map((number) => number ?? '?').join(' to ')
    : textOf(type)
  return [facts.filter(Boolean).join(' '), line].filter(Boolean).join(', ')
}
