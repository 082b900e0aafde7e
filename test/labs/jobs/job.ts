import type { Fact } from './answer-checks.ts'
import { type Changes, problemsOf } from './changes.ts'
import { type Company, companyOf } from './company-lookups.ts'
import type { CompanyRows } from './company-rows.ts'

/** A person's job for an assistant, and how its result is checked. */
export interface JobSpec {
  /** The person's words, without tool names and ids. */
  readonly text: string
  /** Expected changes. Everything else must stay the same. Absent: nothing may change. */
  readonly changes?: (before: Company) => Changes
  /** Expected content of the answer, derived from the data of the company. */
  readonly facts?: (before: Company, after: CompanyRows) => readonly Fact[]
}

/** Problems of a job's result; empty if it is right. */
export function checkJob(
  job: JobSpec,
  done: { readonly before: CompanyRows; readonly after: CompanyRows; readonly answer: string },
): string[] {
  const { after, answer } = done
  const before = companyOf(done.before)
  const facts = job.facts?.(before, after) ?? []
  return [
    ...problemsOf(job.changes?.(before) ?? {}, before, after),
    ...facts.flatMap((fact) => {
      const problem = fact(answer)
      return problem === undefined ? [] : [`The answer ${problem}`]
    }),
  ]
}
