import type { ExpectedFailure } from './expected-failures.ts'
import type { Check, Line, Revision } from './suite.ts'
import type { TargetName } from './targets.ts'

/** A run of a scenario. */
export interface Run {
  readonly line: Line
  readonly revision: Revision
  readonly target: TargetName
  readonly scenario: string
}

/**
 * `expected`: failed as listed in expected-failures.ts. `skipped`: the suite checked nothing, and
 * states why. Only `failed` is an error.
 */
export type Outcome = 'passed' | 'failed' | 'expected' | 'skipped'

export interface Verdict extends Run {
  readonly outcome: Outcome
  /** Number of passed checks. */
  readonly passed: number
  /** Reason of an outcome other than `passed`. */
  readonly reason?: string
}

const isExpectedOf =
  ({ target, revision, scenario }: Run) =>
  (expected: ExpectedFailure) =>
    expected.targets.includes(target) &&
    expected.revisions.includes(revision) &&
    expected.scenarios.includes(scenario)

const wordsOf = ({ id, description, errorMessage }: Check) =>
  `${id}: ${errorMessage ?? description ?? 'no reason given'}`.replaceAll(/\s+/g, ' ')

/** Judges the checks of a scenario. A warning of the suite counts as a failure. */
export function judge(
  run: Run,
  checks: readonly Check[] | undefined,
  list: readonly ExpectedFailure[],
): Verdict {
  const passed = checks?.filter(({ status }) => status === 'SUCCESS').length ?? 0
  const verdict = (outcome: Outcome, reason?: string): Verdict => ({
    ...run,
    outcome,
    passed,
    ...(reason !== undefined && { reason }),
  })
  if (!checks) return verdict('failed', 'The suite gave no result.')
  const failing = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
  const entries = list.filter(isExpectedOf(run))
  const isCovered = ({ id }: Check) =>
    entries.some((entry) => entry.checks === undefined || entry.checks.includes(id))
  const surprises = failing.filter((check) => !isCovered(check))
  if (surprises.length > 0) return verdict('failed', surprises.map(wordsOf).join(' '))
  const stale = entries.flatMap((entry) => staleOf(entry, checks, failing))
  if (stale.length > 0) {
    return verdict('failed', `Passes, and is expected to fail: ${stale.join(', ')}`)
  }
  if (failing.length > 0) return verdict('expected', entries.map(({ reason }) => reason).join(' '))
  if (passed > 0) return verdict('passed')
  return verdict('skipped', checks.map(wordsOf).join(' '))
}

/** Expected failures of an entry that passed. */
function staleOf(
  { checks: ids, scenarios }: ExpectedFailure,
  checks: readonly Check[],
  failing: readonly Check[],
): readonly string[] {
  const fails = (id: string) => failing.some((check) => check.id === id)
  if (ids) return ids.filter((id) => checks.some((check) => check.id === id) && !fails(id))
  return failing.length > 0 ? [] : scenarios
}

/** Expected failures that were not run, such as scenarios that the suite no longer has. */
export const unusedOf = (
  list: readonly ExpectedFailure[],
  runs: readonly Run[],
): readonly string[] =>
  list.flatMap(({ targets, revisions, scenarios }) =>
    scenarios.filter(
      (scenario) =>
        !runs.some(
          (run) =>
            run.scenario === scenario &&
            targets.includes(run.target) &&
            revisions.includes(run.revision),
        ),
    ),
  )
