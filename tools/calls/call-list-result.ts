import * as z from 'zod'
import { failureText } from '../../src/platform/failure.ts'
import { plainText } from '../../src/text/safe-text.ts'
import { betweenMarks } from '../../src/tool/results/untrusted-speech.ts'
import {
  type CallState,
  callStateOf,
  callStates,
  callStateWords,
  isGoingOn,
  isUnreached,
  lastWordsOf,
} from './call-state.ts'
import type { FollowedCall } from './following.ts'

const outcomeNames = [
  'placed',
  'repeated',
  'not_allowed',
  'failed',
  'unknown',
  'not_dialled',
] as const

/** One call of a list: what came of placing it and, if it was followed, how it went. */
const ListedCall = z.object({
  to_number: z.string().optional().describe('Callee.'),
  outcome: z
    .enum(outcomeNames)
    .optional()
    .describe(
      'placed now; repeated: placed before, not dialled again; unknown: may be ringing; not_dialled: never tried.',
    ),
  state: z.enum(callStates).optional().describe('How it went, where it was followed.'),
  call_id: z.string().optional().describe('Call id.'),
  external_id: z.string().optional().describe('Its correlation id.'),
  status: z.string().optional(),
  answer_status: z.string().optional(),
  duration_seconds: z.number().optional(),
  last_words: z.string().optional().describe('UNTRUSTED: what the callee said last.'),
  problem: z.string().optional().describe('Why it was not placed or read, and what to do.'),
})
export type ListedCall = z.output<typeof ListedCall>

/** A call that was to be placed. */
export type ListedCallOutcome = ListedCall & {
  readonly to_number: string
  readonly outcome: (typeof outcomeNames)[number]
}

/** The result of a list: all calls, and each problem once. */
export const callListShape = {
  batch_id: z.string().optional().describe('All these calls, for wait_for_call.'),
  calls: z
    .array(
      ListedCall.extend({
        problem_of: z
          .int()
          .optional()
          .describe('It has the problem of the call in this place, from 1.'),
      }),
    )
    .optional()
    .describe('In the order given.'),
}

/** How a call went, as far as it was followed. */
export function followedFields(followed: FollowedCall): Omit<ListedCall, 'to_number' | 'outcome'> {
  if ('error' in followed) return { state: 'unknown', problem: failureText(followed.error.failure) }
  const { call } = followed
  const words = lastWordsOf(call)
  return {
    state: callStateOf(call),
    ...(typeof call.status === 'string' && { status: call.status }),
    ...(typeof call.answer_status === 'string' && { answer_status: call.answer_status }),
    ...(typeof call.duration_seconds === 'number' && { duration_seconds: call.duration_seconds }),
    ...(words !== undefined && { last_words: words }),
  }
}

/** How many came to what, such as `{placed: 2, failed: 1}`. */
export function outcomeCounts(calls: readonly ListedCall[]): Record<string, number> {
  const counts = outcomeNames.map((name) => [
    name,
    calls.filter(({ outcome }) => outcome === name).length,
  ])
  return Object.fromEntries(counts.filter(([, count]) => count !== 0))
}

/** Such as `1 answered by a person, 2 busy`. */
export function statesInWords(calls: readonly ListedCall[]): string {
  const states = callStates.map((name) => [
    name,
    calls.filter(({ state }) => state === name).length,
  ])
  return states
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${count} ${callStateWords[name as CallState]}`)
    .join(', ')
}

/** Calls that were followed go on, or could not be read. */
export const mustWait = (calls: readonly ListedCall[]): boolean =>
  calls.some(({ state }) => state !== undefined && (isGoingOn(state) || state === 'unknown'))

/** The calls with each problem once, because many calls of a list are refused for the same reason. */
export function withProblemsOnce(calls: readonly ListedCall[]) {
  const groups = Map.groupBy(calls, groupKey)
  return calls.map((call) => {
    const [first = call] = groups.get(groupKey(call)) ?? []
    if (first === call || call.problem === undefined) return call
    const { problem: _, ...rest } = call
    return { ...rest, problem_of: calls.indexOf(first) + 1 }
  })
}

/** Most calls of a list that are shown with their ids: of a longer one all numbers would not fit. */
const maxInFull = 25

const idsNote = 'The call_id of each is in structuredContent, and in list_calls.'

/** The calls by what came of them, the ones that were answered first, then what was said last. */
export function callListLines(calls: readonly ListedCall[]): string[] {
  const groups = [...Map.groupBy(calls, groupKey).values()].sort(
    ([one], [other]) => rankOf(one) - rankOf(other),
  )
  const isLong = calls.length > maxInFull
  const nameOf = namesIn(calls)
  const words = calls.flatMap((call) =>
    call.last_words === undefined ? [] : `${nameOf(call)} user: ${call.last_words}`,
  )
  const inWords = (call: ListedCall) => (isLong ? nameOf(call) : callText(call, nameOf(call)))
  return [
    ...groups.map((group) => groupLine(group, inWords)),
    ...(isLong && calls.some(({ call_id: id }) => id) ? [idsNote] : []),
    ...(words.length > 0 ? betweenMarks('What was said last.', words) : []),
    ...(calls.some(mayBeCalledAgain) ? [againNote] : []),
  ]
}

/** Another request for the same call finds the first one: see sameInListMs. */
const againNote =
  'For another call to a person who was called, give the entry an external_id of its own; without one it is the same call for five days, and not dialled again.'

const mayBeCalledAgain = ({ state, outcome }: ListedCall) =>
  state === undefined ? outcome === 'repeated' : isUnreached(state)

/** Calls with the same outcome, and the same problem apart from number and id, are a group. */
const groupKey = (call: ListedCall) =>
  JSON.stringify([call.state ?? call.outcome, generalProblem(call)])

/** The problem without the number and id of the call. */
function generalProblem({ to_number = '', call_id, problem }: ListedCall): string | undefined {
  const withoutNumber = to_number ? problem?.replaceAll(to_number, 'the number') : problem
  return call_id ? withoutNumber?.replaceAll(`call_id ${call_id}`, 'its call_id') : withoutNumber
}

/** Calls that were followed in the order of their states, then the others. */
const rankOf = (call: ListedCall | undefined) =>
  call?.state === undefined ? callStates.length : callStates.indexOf(call.state)

function groupLine(group: readonly ListedCall[], inWords: (call: ListedCall) => string): string {
  const [first] = group
  if (!first) return ''
  const problem = group.length > 1 ? generalProblem(first) : first.problem
  const head = first.state === undefined ? first.outcome : callStateWords[first.state]
  return `${head}: ${group.map(inWords).join(', ')}${problem === undefined ? '' : `: ${problem}`}`
}

/** The number, and what leads on: nothing can be read of a call that nobody answered. */
function callText(call: ListedCall, name: string): string {
  const { state, status, call_id, duration_seconds: seconds } = call
  const isSilent = state === 'not_answered' || state === 'busy' || state === 'declined'
  const isUsual = status === undefined || (state && usualStatus[state]) === status
  const facts = [
    call_id !== undefined && call_id !== name && `call_id ${call_id}`,
    !isUsual && plainText(status),
    seconds !== undefined && `${seconds} s`,
  ].filter((fact) => fact !== false)
  return isSilent || facts.length === 0 ? name : `${name} (${facts.join(', ')})`
}

/** The status that a call in a state normally has. */
const usualStatus: Readonly<Partial<Record<CallState, string>>> = {
  answered: 'completed',
  machine: 'completed',
  talking: 'in_progress',
  ringing: 'in_progress',
  failed: 'failed',
}

/** Calls by their numbers. Of several to one number each has its place, from 1, as in `problem_of`. */
function namesIn(calls: readonly ListedCall[]): (call: ListedCall) => string {
  const byNumber = Map.groupBy(calls, numberOf)
  return (call) => {
    const number = numberOf(call)
    const isOnly = byNumber.get(number)?.length === 1
    return isOnly ? number : `${number} [call ${calls.indexOf(call) + 1}]`
  }
}

const numberOf = ({ to_number, call_id = '' }: ListedCall) => plainText(to_number ?? call_id)
