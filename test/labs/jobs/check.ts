import { problemsOf } from './changes.ts'
import type { Job } from './job.ts'
import type { State } from './state.ts'

/** What is wrong with a job that was done: empty when it is right. */
export function checkJob(
  job: Job,
  done: { readonly before: State; readonly after: State; readonly answer: string },
): string[] {
  const { before, after, answer } = done
  const facts = job.facts?.(before, after) ?? []
  return [
    ...problemsOf(job.changes?.(before) ?? {}, before, after),
    ...facts.flatMap((fact) => {
      const problem = fact(answer)
      return problem === undefined ? [] : [`The answer ${problem}`]
    }),
  ]
}
