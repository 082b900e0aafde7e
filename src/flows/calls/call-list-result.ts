import * as z from 'zod'
import type { ToolOutcome } from '../../mcp/call/tool.ts'
import { compactJson } from '../../views/compact-json.ts'

const outcomeNames = [
  'placed',
  'repeated',
  'not_allowed',
  'failed',
  'unknown',
  'not_dialled',
] as const

/** The outcome of one call of a list. */
const ListedCallOutcome = z.object({
  to_number: z.string().describe('Callee.'),
  outcome: z
    .enum(outcomeNames)
    .describe(
      'placed now; repeated: placed before, not dialled again; unknown: may be ringing; not_dialled: never tried.',
    ),
  call_id: z.string().optional().describe('Call id.'),
  external_id: z.string().optional().describe('Its correlation id.'),
  problem: z.string().optional().describe('Why it was not placed, and what to do.'),
})
export type ListedCallOutcome = z.output<typeof ListedCallOutcome>

/** The result of a list: all calls, and each problem once. */
export const callListShape = {
  summary: z.record(z.string(), z.int()).optional().describe('How many came to what.'),
  calls: z
    .array(
      ListedCallOutcome.extend({
        problem_of: z
          .int()
          .optional()
          .describe('It has the problem of the call in this place, from 1.'),
      }),
    )
    .optional()
    .describe('In the order given.'),
}

const repeatedNote =
  ' Those repeated were placed before and not dialled again; for another call to them give each an external_id of its own.'

/** Shows each problem once, because many calls of a list are refused for the same reason. */
export function callListOutcome(calls: readonly ListedCallOutcome[]): ToolOutcome {
  const groups = Map.groupBy(calls, groupKey)
  const counts = outcomeNames.map((outcome) => [
    outcome,
    calls.filter((call) => call.outcome === outcome).length,
  ])
  const summary = Object.fromEntries(counts.filter(([, count]) => count !== 0))
  const head = Object.entries(summary).map(([outcome, count]) => `${count} ${outcome}`)
  return {
    structured: { summary, calls: calls.map((call) => withProblemOnce(call, calls, groups)) },
    lines: [
      `${calls.length} calls: ${head.join(', ')}.${summary.repeated ? repeatedNote : ''}`,
      ...[...groups.values()].map(groupLine),
    ],
  }
}

/** Calls with one problem, apart from number and id, are a group. Every other call is one by itself. */
const groupKey = (call: ListedCallOutcome) =>
  call.problem === undefined ? call : `${call.outcome} ${generalProblem(call)}`

/** The problem without the number and id of the call. */
function generalProblem({ to_number, call_id, problem = '' }: ListedCallOutcome): string {
  const withoutNumber = problem.replaceAll(to_number, 'the number')
  return call_id ? withoutNumber.replaceAll(`call_id ${call_id}`, 'its call_id') : withoutNumber
}

/** The first call of a group has the problem, the others its place. */
function withProblemOnce(
  call: ListedCallOutcome,
  calls: readonly ListedCallOutcome[],
  groups: ReadonlyMap<unknown, readonly ListedCallOutcome[]>,
) {
  const [first = call] = groups.get(groupKey(call)) ?? []
  if (first === call) return call
  const { problem: _, ...rest } = call
  return { ...rest, problem_of: calls.indexOf(first) + 1 }
}

function groupLine(group: readonly ListedCallOutcome[]): string {
  const [first, ...others] = group
  if (!first || others.length === 0) return compactJson(first)
  const { outcome } = first
  const to_number = group.map((call) => call.to_number).join(', ')
  const call_id = group.flatMap((call) => call.call_id ?? []).join(', ')
  return compactJson({ to_number, outcome, call_id, problem: generalProblem(first) })
}
