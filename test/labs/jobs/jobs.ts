import { firstDozen } from './dozens/first.ts'
import { secondDozen } from './dozens/second.ts'
import type { Job } from './job.ts'

/** All jobs, in the order in which they are done. */
export const jobs: readonly Job[] = [...firstDozen, ...secondDozen]

export const jobNamed = (name: string): Job | undefined => jobs.find((job) => job.name === name)
