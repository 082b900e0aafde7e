import { documented, type Listing } from '../platform/call-lists.ts'
import type { Reaction } from '../platform/reaction.ts'
import type { Plan, PlannedEvent, PlannedRequest, WantedCall } from './plan.ts'

/*
 * Histories in which a defect placed a call twice, reported a wrong outcome, or blocked further
 * calls. They run in addition to the random ones.
 */

const at = (when: number, server = 0, cancelledAfter?: number): PlannedRequest => ({
  at: when,
  server,
  cancelledAfter,
})

const reaction = (
  acts: Reaction['acts'],
  answer: Reaction['answer'],
  { answerMs = 20, lateness = 0 } = {},
): Reaction => ({ acts, answer, answerMs, lateness })

/** The reply is lost, and the call is listed nearly as late as permitted. */
const lateAndLost = reaction('later', 'connection lost', { lateness: 0.98 })

interface Script {
  readonly requests: readonly PlannedRequest[]
  readonly posts: readonly Reaction[]
  readonly events?: readonly PlannedEvent[]
  readonly more?: Partial<Plan>
  readonly externalId?: string
  readonly isConfirmed?: boolean
  /** A second wanted call. */
  readonly other?: Pick<Script, 'requests' | 'posts'>
}

const callOf = (
  number: string,
  { requests, posts, externalId, isConfirmed = false }: Script,
): WantedCall => ({ number, externalId, isConfirmed, requests, posts })

function scriptOf(script: Script): Plan {
  const { events = [], more, other } = script
  const calls = [callOf('+4915112345670', script)]
  if (other) calls.push(callOf('+4915112345671', other))
  return {
    ...{ seed: 0, servers: 2, settledMs: 120_000, findOutMs: 20_000, requestMs: 54_000 },
    ...{ listing: documented, otherCalls: 0, crashRate: 0, stateFailureRate: 0 },
    ...{ readFaultRate: 0, stateMs: 0, limits: {}, calls, events, shared: 'files' },
    ...more,
  }
}

const hour = 3_600_000
const clock = (when: number, byMs: number): PlannedEvent => ({ at: when, kind: 'clock', byMs })
const restart: PlannedEvent = { at: 3000, kind: 'restart of the machine' }

/** All clocks are set forward: those of the machines and of the shared database. */
const allForward = (byMs: number, more: readonly PlannedEvent[] = []): Script => ({
  requests: [at(0), at(30_000, 1), at(60_000), at(90_000, 1)],
  posts: [lateAndLost],
  events: [clock(1000, byMs), ...more],
  more: { shared: 'database' },
})

/** All clocks are set forward in steps that are too small to be detected one by one. */
const forwardInSmallSteps: Script = {
  requests: [at(0), at(100, 1), at(85_000, 1), at(97_000, 1), at(110_000, 1)],
  posts: [lateAndLost],
  events: [clock(1000, 9000), clock(30_000, 9000), clock(86_000, 9000)],
  more: { shared: 'database' },
}

/**
 * All clocks are set forward by 48 hours, more than the program tolerates in dates of the platform,
 * and lists hide external ids.
 */
const forwardByDays = (shared: Plan['shared']): Script => ({
  requests: [at(0), at(30_000), at(200_000), at(400_000)],
  posts: [reaction('now', 'connection lost')],
  events: [clock(1000, 48 * hour)],
  more: { shared, listing: { ...documented, ids: 'hidden' } },
})

const scripts: Readonly<Record<string, Script>> = {
  'the platform lists the call late': {
    requests: [at(0), at(60_000, 1), at(100_000, 1)],
    posts: [lateAndLost],
  },
  'the clock is set forward by an hour': {
    requests: [at(0), at(30_000, 1), at(60_000)],
    posts: [lateAndLost],
    events: [clock(1000, hour)],
  },
  'the clock is set back by an hour': {
    requests: [at(0), at(30_000, 1)],
    posts: [reaction('never', 'connection lost')],
    events: [clock(1000, -hour)],
  },
  'with a database, all clocks are set forward by 700 s': allForward(700_000),
  'with a database, all clocks are set forward by an hour': allForward(hour),
  'with a database, all clocks are set forward by a day': allForward(24 * hour),
  'with a database, all clocks are set forward in small steps': forwardInSmallSteps,
  'with a database, all clocks are set forward, and the other server starts anew': allForward(
    hour,
    [{ at: 2000, kind: 'kill', server: 1 }],
  ),
  'with a database, all clocks are set forward, and the machines are started again': allForward(
    hour,
    [restart],
  ),
  'no external ids are listed, and the clock is set forward by two days': forwardByDays('files'),
  'no external ids are listed, and with a database all clocks are set forward by two days':
    forwardByDays('database'),
  'the machine is restarted while the call is sent': {
    requests: [at(0), at(10_000, 1), at(60_000)],
    posts: [reaction('later', 'none', { lateness: 0.98 })],
    events: [restart],
  },
  'the platform redirects, and has acted': {
    requests: [at(0), at(200_000, 1)],
    posts: [reaction('now', 'redirect')],
  },
  'both servers want to take it over': {
    requests: [at(0), at(160_000), at(160_000, 1), at(160_010, 1)],
    posts: [reaction('never', 'connection lost'), reaction('now', 'none')],
  },
  'the request is cancelled before it is sent': {
    requests: [at(0, 0, 30), at(0, 1, 60), at(5000)],
    posts: [],
    more: { stateMs: 100 },
  },
  'recording the call takes all its time': {
    requests: [at(0), at(0, 1), at(20_000)],
    posts: [],
    more: { stateMs: 2500, requestMs: 4000 },
  },
  'both servers are killed while the call is sent': {
    requests: [at(0), at(10_000, 1), at(190_000)],
    posts: [reaction('later', 'none', { lateness: 0.9 })],
    events: [
      { at: 2000, kind: 'kill', server: 0 },
      { at: 2000, kind: 'kill', server: 1 },
    ],
  },
  'a server is killed that has used up max_at_once': {
    requests: [at(0)],
    posts: [],
    events: [{ at: 2000, kind: 'kill', server: 0 }],
    more: { servers: 1, limits: { max_at_once: 1 } },
  },
  'another server finds a call whose answer was lost, and there is a limit': {
    requests: [at(0), at(90_000, 1)],
    posts: [reaction('now', 'connection lost', { lateness: 0.5 })],
    events: [{ at: 0, kind: 'no lists', forMs: 60_000 }],
    more: { limits: { max_at_once: 1 } },
  },
  'another server finds that a call was never placed, and there is a limit': {
    requests: [at(0), at(190_000, 1)],
    posts: [reaction('never', 'connection lost')],
    more: { limits: { max_at_once: 1 } },
  },
  'a server is killed before it sends, and there is a limit': {
    requests: [at(0), at(190_000, 1)],
    posts: [],
    events: [{ at: 4000, kind: 'kill', server: 0 }],
    more: { stateMs: 2500, limits: { max_at_once: 1 } },
  },
  'lists fail while a call is settled': {
    requests: [at(0), at(150_000, 1), at(160_000)],
    posts: [lateAndLost],
    events: [{ at: 10_000, kind: 'no lists', forMs: 148_000 }],
  },
  'the clock is set back between a preview and the use of its token': {
    // The server of the first request is dead. The client keeps its token, and uses it later.
    requests: [at(100), at(3000, 1), at(250_000, 1)],
    posts: [reaction('never', 'connection lost')],
    events: [{ at: 0, kind: 'kill', server: 0 }, clock(500, -hour)],
    isConfirmed: true,
  },
  'the platform does not show a call yet, and the clock is set forward': {
    requests: [at(0, 1)],
    posts: [reaction('now', 'well', { lateness: 0.998 })],
    other: { requests: [at(7500)], posts: [] },
    events: [clock(1730, hour)],
    more: { limits: { max_at_once: 1 } },
  },
}

/**
 * Deviating lists in which a call with a lost reply was once not recognised, and was placed again.
 */
const listings: Readonly<Record<string, Partial<Listing>>> = {
  'lists no external ids': { ids: 'hidden' },
  'lists no external ids and ignores the filter': { ids: 'hidden', filter: 'ignored' },
  'prefixes external ids': { ids: 'prefixed', filter: 'shown id' },
  'lists external ids in capitals': { ids: 'in capitals', filter: 'shown id' },
  'cuts external ids': { ids: 'cut', filter: 'shown id' },
  'ignores the filter': { filter: 'ignored' },
  'ignores the filter and offset': { filter: 'ignored', ignoresOffset: true },
  'ignores offset and cuts external ids': { ids: 'cut', filter: 'shown id', ignoresOffset: true },
  'caps its pages and counts them': {
    ...{ ids: 'hidden', filter: 'shown id', maxOnPage: 7, count: 'page' },
  },
  'caps its only page and counts it': {
    ...{ ids: 'hidden', filter: 'shown id', maxOnPage: 7, count: 'page', ignoresOffset: true },
  },
  'lists numbers without +': { ids: 'hidden', filter: 'shown id', numbers: 'without +' },
  'masks numbers': { ids: 'hidden', filter: 'shown id', numbers: 'masked' },
  'lists another caller and prefixed agents': { changesOthers: true, numbers: 'without +' },
}

const listingScripts = Object.entries(listings).flatMap(([name, listing]) =>
  ['an id of this server', "the caller's id"].map((whose, isOwn): [string, Script] => [
    `the platform ${name}: ${whose}`,
    {
      requests: [at(0), at(200_000, 1), at(400_000)],
      posts: [reaction('now', 'connection lost')],
      more: { listing: { ...documented, ...listing }, otherCalls: 230 },
      ...(isOwn && { externalId: 'an order of a customer 2026-11-21' }),
    },
  ]),
)

/** Plans of all scripted histories, by name. */
export const scriptedPlans: ReadonlyMap<string, Plan> = new Map(
  [...Object.entries(scripts), ...listingScripts].map(([name, script]) => [name, scriptOf(script)]),
)
