import type { Fact } from './answers.ts'
import { type Changes, problemsOf } from './changes.ts'
import { type Company, companyOf } from './company.ts'
import type { State } from './state.ts'

/** A person's job for an assistant, and how to tell that it was done. */
export interface JobSpec {
  /** What the person says: no tool names, no ids. */
  readonly text: string
  /** What is to be different afterwards. Anything else must be as it was. Absent: nothing changes. */
  readonly changes?: (before: Company) => Changes
  /** What the answer is to say, worked out from the data of the furnished company. */
  readonly facts?: (before: Company, after: State) => readonly Fact[]
}

/** What is wrong with a job that was done: empty when it is right. */
export function checkJob(
  job: JobSpec,
  done: { readonly before: State; readonly after: State; readonly answer: string },
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
