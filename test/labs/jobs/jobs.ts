import { firstDozen } from './dozens/first.ts'
import { secondDozen } from './dozens/second.ts'
import { thirdDozen } from './dozens/third.ts'
import type { Job } from './job.ts'

/** All jobs, in the order in which they are done. */
export const jobs: readonly Job[] = [...firstDozen, ...secondDozen, ...thirdDozen]

export const jobNamed = (name: string): Job | undefined => jobs.find((job) => job.name === name)
