/** A value that an argument may take, and the names that people know it by. */
export interface Candidate {
  readonly value: string
  readonly names: readonly (string | null | undefined)[]
}
