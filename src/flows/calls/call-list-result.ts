import * as z from 'zod'
import type { ToolOutcome } from '../../mcp/call/tool.ts'
import { compactText } from '../../views/compact.ts'

const outcomes = ['placed', 'repeated', 'not_allowed', 'failed', 'unknown', 'not_dialled'] as const

/** What became of one call of a list. */
const ListedCall = z.object({
  to_number: z.string().describe('Callee.'),
  outcome: z
    .enum(outcomes)
    .describe(
      'placed now; repeated: placed before, not dialled again; unknown: may be ringing; not_dialled: never tried.',
    ),
  call_id: z.string().optional().describe('Call id.'),
  external_id: z.string().optional().describe('Its correlation id.'),
  problem: z.string().optional().describe('Why it was not placed, and what to do.'),
})
export type ListedCall = z.output<typeof ListedCall>

/** An account of all calls of a list, in which no problem is told twice. */
export const listed = {
  summary: z.record(z.string(), z.int()).optional().describe('How many came to what.'),
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

const onRepeats =
  ' Those repeated were placed before and not dialled again; for another call to them give each an external_id of its own.'

/** Tells of each call, and each problem once: a hundred calls are likely refused for one reason. */
export function shownCalls(calls: readonly ListedCall[]): ToolOutcome {
  const alike = Map.groupBy(calls, likeness)
  const counts = outcomes.map((outcome) => [
    outcome,
    calls.filter((call) => call.outcome === outcome).length,
  ])
  const summary = Object.fromEntries(counts.filter(([, count]) => count !== 0))
  const head = Object.entries(summary).map(([outcome, count]) => `${count} ${outcome}`)
  return {
    structured: { summary, calls: calls.map((call) => withoutRepetition(call, { calls, alike })) },
    lines: [
      `${calls.length} calls: ${head.join(', ')}.${summary.repeated ? onRepeats : ''}`,
      ...[...alike.values()].map(lineOf),
    ],
  }
}

/** The same for calls of which the same is to be told, but for number and id; others are by themselves. */
const likeness = (call: ListedCall) =>
  call.problem === undefined ? call : `${call.outcome} ${ofAnyCall(call)}`

function ofAnyCall({ to_number, call_id, problem = '' }: ListedCall): string {
  const ofAnyNumber = problem.replaceAll(to_number, 'the number')
  return call_id ? ofAnyNumber.replaceAll(`call_id ${call_id}`, 'its call_id') : ofAnyNumber
}

interface Account {
  readonly calls: readonly ListedCall[]
  readonly alike: ReadonlyMap<unknown, readonly ListedCall[]>
}

function withoutRepetition(call: ListedCall, { calls, alike }: Account) {
  const [first = call] = alike.get(likeness(call)) ?? []
  if (first === call) return call
  const { problem: _, ...rest } = call
  return { ...rest, problem_of: calls.indexOf(first) + 1 }
}

function lineOf(alike: readonly ListedCall[]): string {
  const [first, ...others] = alike
  if (!first || others.length === 0) return compactText(first)
  const { outcome } = first
  const to_number = alike.map((call) => call.to_number).join(', ')
  const call_id = alike.flatMap((call) => call.call_id ?? []).join(', ')
  return compactText({ to_number, outcome, call_id, problem: ofAnyCall(first) })
}
