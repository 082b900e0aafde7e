import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** The SHA-256 of a file, in hexadecimal digits. */
export const sha256Of = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex')
