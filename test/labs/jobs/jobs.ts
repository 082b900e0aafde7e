import { firstDozen } from './dozens/first-everyday-jobs.ts'
import { secondDozen } from './dozens/second-larger-jobs.ts'
import { thirdDozen } from './dozens/third-hardest-jobs.ts'
import type { JobSpec } from './job.ts'

const byDozen = { first: firstDozen, second: secondDozen, third: thirdDozen }
type Dozen = keyof typeof byDozen
export const dozens = Object.keys(byDozen) as readonly Dozen[]

export interface Job extends JobSpec {
  readonly name: string
  readonly dozen: Dozen
}

/** All jobs, in order of execution. */
export const jobs: readonly Job[] = dozens.flatMap((dozen) =>
  Object.entries<JobSpec>(byDozen[dozen]).map(([name, job]) => ({ name, dozen, ...job })),
)

export const jobNamed = (name: string): Job | undefined => jobs.find((job) => job.name === name)
