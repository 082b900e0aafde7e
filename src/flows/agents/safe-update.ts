import * as z from 'zod'
import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import { badArguments, Refused } from '../../mcp/call/refused.ts'
import type { Run, Steps, ToolOutcome } from '../../mcp/call/tool.ts'
import { closestWord } from '../../text/closest-match.ts'
import { broughtBack, isStillArchived, notBack } from './bring-back.ts'
import { checkCatalogs } from './catalog-check.ts'
import { type Change, changesBetween, type Fields, isObject, overlay } from './changes.ts'
import { keysAt, pathsIn, withoutKeys } from './free-data.ts'
import { checkGreeting } from './template-check.ts'

const options = {
  dry_run: z.boolean().optional().describe('true: show the changes, save nothing.'),
  expected_modified: z
    .string()
    .optional()
    .describe("The agent's modified as you read it; refused if changed since."),
}

const schema = z.object({
  agent_id: z.string().describe('Agent id.'),
  name: z.string().nullable().describe('Its name.'),
  applied: z.boolean().describe('False: nothing was saved.'),
  modified: z.string().nullable().describe('When it last changed.'),
  changes: z
    .array(
      z.object({
        field: z.string().describe('Dotted path.'),
        before: z.unknown().optional().describe('Value before; absent: there was none.'),
        after: z.unknown().optional().describe('Value after; absent: there is none.'),
      }),
    )
    .describe('What differs, field by field.'),
  warnings: z.array(z.string()).describe('What may be a mistake.'),
})

type UpdateRun = Run<typeof routes.agents.update, typeof options>

/**
 * Changes an agent without losing anything: reads it, lays the change over it all the way down,
 * checks what is new, and sends only the parts that differ. Between reading and writing somebody
 * else may still write: the platform has no way to rule that out.
 */
export const safeUpdate: Steps<typeof routes.agents.update, typeof options> = {
  options,
  schema,
  async run(run) {
    const { request, session, signal } = run
    const { params } = request
    const stored = await session.client.call(routes.agents.get, { params, query: {} }, signal)
    refuseIfChanged(stored, run.options.expected_modified)
    const { is_archived, ...body } = run.body
    const { wanted, missing } = wantedOf(stored, { body, cleared: run.cleared })
    const returns = is_archived === false && (await isStillArchived(stored, run)) !== false
    const planned = [
      ...changesBetween(partOf(stored, wanted), wanted),
      ...(returns ? [broughtBack] : []),
    ]
    if (planned.length === 0)
      return outcome(stored, { applied: false, changes: [], warnings: missing })
    const warnings = [...missing, ...(await check(stored, wanted, run))]
    if (run.options.dry_run) return outcome(stored, { applied: false, changes: planned, warnings })
    const patch = { ...patchOf(stored, wanted), ...(returns && { is_archived }) }
    const sent = { params, query: {}, body: patch }
    const updated = await session.client.call(routes.agents.update, sent, signal)
    // Whether it worked the list shows; the reply need not.
    const isArchivedNow = returns && (await isStillArchived(updated, run))
    const ignored = notTaken({ stored, wanted, updated }, run.cleared)
    return outcome(updated, {
      applied: isArchivedNow !== true || planned.length > 1,
      changes: [
        ...changesBetween(comparable(stored), comparable(updated)),
        ...(returns && isArchivedNow === false ? [broughtBack] : []),
      ],
      warnings: [
        ...warnings,
        ...ignored,
        ...(isArchivedNow === false ? [] : [notBack(isArchivedNow)]),
      ],
    })
  },
}

function refuseIfChanged({ modified }: Agent, expected: string | undefined): void {
  if (expected === undefined || isSameInstant(modified, expected)) return
  throw new Refused(
    'conflict',
    `the agent was changed since: modified is ${modified ?? 'unknown'}, not ${expected}; nothing was sent`,
    { next: 'Look at what changed with get_agent, then decide again with its modified.' },
  )
}

const isSameInstant = (one: string | null | undefined, other: string) =>
  one === other || (typeof one === 'string' && Date.parse(one) === Date.parse(other))

interface Wanted {
  /** The fields that are to change, each whole. */
  readonly wanted: Fields
  /** What cannot be cleared because it is not there. */
  readonly missing: string[]
}

/**
 * The fields that are to change, each whole. Metadata is free data, in which null is a value like
 * any other, so a key of it that is to be cleared is taken out.
 */
function wantedOf(
  stored: Fields,
  { body, cleared }: { body: Fields; cleared: readonly string[] },
): Wanted {
  const wanted = Object.fromEntries(
    Object.entries(body).map(([name, change]) => [name, overlay(stored[name], change)]),
  )
  const keys = cleared
    .filter((path) => path.startsWith(inMetadata))
    .map((path) => path.slice(inMetadata.length))
  if (keys.length === 0) return { wanted, missing: [] }
  const found = keys.map((key) => ({ key, at: theOneAt(stored.metadata, key) }))
  const metadata = found.reduce(
    (whole, { at }) => (at ? withoutKeys(whole, at) : whole),
    wanted.metadata ?? stored.metadata,
  )
  const missing = found.flatMap(({ key, at }) => (at ? [] : [notThere(stored.metadata, key)]))
  return { wanted: { ...wanted, metadata }, missing }
}

const inMetadata = 'metadata.'

function theOneAt(metadata: unknown, key: string): string[] | undefined {
  const [one, other] = keysAt(metadata, key)
  if (!one || !other) return one
  const message = `two keys are meant by ${key}: ${JSON.stringify(one)} and ${JSON.stringify(other)}; clear what holds one of them`
  throw badArguments([{ argument: 'clear', message }])
}

/** A warning and no error: what is not there need not be cleared, and a repeat is no mistake. */
function notThere(metadata: unknown, key: string): string {
  const meant = isObject(metadata) && closestWord(key, pathsIn(metadata))
  return `clear: there is no ${inMetadata}${key}${meant ? `; did you mean ${inMetadata}${meant}?` : ''}`
}

const partOf = (agent: Fields, wanted: Fields): Fields =>
  Object.fromEntries(Object.keys(wanted).map((name) => [name, agent[name]]))

/** An agent without what changes by itself, and what the lists tell better. */
const comparable = ({ modified: _, is_archived: __, ...agent }: Agent): Fields => agent

/** Objects that the platform merges at their first level [R]; all others it replaces. */
const merged = new Set(['model', 'transcriber', 'voice'])

/** What has to be sent to come from what is stored to what is wanted. */
function patchOf(stored: Fields, wanted: Fields): Fields {
  const differing = Object.entries(wanted).filter(
    ([name, value]) => changesBetween(stored[name], value).length > 0,
  )
  return Object.fromEntries(
    differing.map(([name, value]) => {
      const before = stored[name]
      return [
        name,
        merged.has(name) && isObject(before) && isObject(value) ? patchOf(before, value) : value,
      ]
    }),
  )
}

/** Checks what is new of it; what is stored already is nobody's mistake now. */
async function check(stored: Fields, wanted: Fields, run: UpdateRun): Promise<string[]> {
  const [catalogs, greeting] = await Promise.all([
    checkCatalogs(wanted, run, stored),
    messageOf(wanted) === messageOf(stored) ? [] : checkGreeting(wanted.initial_message, run),
  ])
  return [...catalogs, ...greeting]
}

const messageOf = ({ initial_message: opening }: Fields): unknown =>
  isObject(opening) ? opening.message : undefined

interface States {
  readonly stored: Fields
  readonly wanted: Fields
  readonly updated: Fields
}

/** What the platform did not take over; a field that was cleared may be at any default. */
function notTaken({ stored, wanted, updated }: States, cleared: readonly string[]): string[] {
  return changesBetween(partOf(updated, wanted), wanted).flatMap(({ field, before, after }) => {
    if (after !== null || !cleared.includes(field))
      return [`${field}: the platform has ${short(before)}, not ${short(after)}`]
    const isSame = !changesBetween(stored, updated).some((change) => isWithin(field, change.field))
    return isSame && before !== undefined
      ? [`${field}: the platform still has ${short(before)}, which may be its default`]
      : []
  })
}

const isWithin = (path: string, inner: string) => inner === path || inner.startsWith(`${path}.`)

interface Result {
  readonly applied: boolean
  readonly changes: readonly Change[]
  readonly warnings: readonly string[]
}

function outcome({ id, name, modified }: Agent, result: Result): ToolOutcome {
  const { applied, changes, warnings } = result
  const agent = `agent ${name ? `${name} (${id})` : id}`
  const head = applied
    ? `Updated ${agent}`
    : changes.length > 0
      ? `Dry run, nothing saved: ${agent} would change`
      : warnings.includes(notBack(true))
        ? `Nothing changed: the platform did not take it for ${agent}`
        : `Nothing to change: ${agent} is already so`
  const lines = [
    `${head}; modified ${modified ?? 'unknown'}.`,
    // First, because of many changes the last are left out.
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...changes.map(({ field, before, after }) => `${field}: ${short(before)} → ${short(after)}`),
  ]
  return {
    structured: { agent_id: id, name: name ?? null, modified: modified ?? null, ...result },
    lines,
  }
}

/** Longest value shown of a change, in characters. */
const longestValue = 500

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > longestValue
    ? `${text.slice(0, longestValue)}… (${text.length} characters)`
    : text
}
