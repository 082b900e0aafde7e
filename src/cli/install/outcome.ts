import type { Client } from './clients.ts'

/** What became of one client's file. */
export interface Outcome {
  readonly client: Client
  readonly file: string
  /**
   * `written`; `planned`: only shown; `unchanged`: nothing is to be done; `declined`: the person
   * said no; `failed`: it could not be done, and the file is as it was.
   */
  readonly status: 'written' | 'planned' | 'unchanged' | 'declined' | 'failed'
  /** The change as lines of a diff, without secrets. */
  readonly change: readonly string[]
  /** Why it failed, or what else there is to know. */
  readonly notes: readonly string[]
  /** The file as it was before. */
  readonly backup: string | undefined
}

/** The same as JSON, for other programs. */
export const outcomeJson = ({ client, backup, ...outcome }: Outcome) => ({
  client: client.id,
  ...outcome,
  backup: backup ?? null,
})
