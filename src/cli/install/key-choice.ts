import type { Client } from './clients.ts'
import { keyVariable } from './server-entry.ts'

/** Where the server's key will be. */
export type KeyChoice =
  | { readonly kind: 'none' }
  | { readonly kind: 'plain'; readonly key: string; readonly needsConsent: boolean }
  | { readonly kind: 'referred' }
  | { readonly kind: 'missing' }

/** What is known of the key before any client is looked at. */
export interface GivenKey {
  /** Whether there is a platform, for which a key is needed. */
  readonly isNeeded: boolean
  readonly key: string | undefined
  /** Whether it may be written into files. */
  readonly mayBePlain: boolean
}

/**
 * The key goes where the client keeps secrets, else the file says where it is found. In plain text
 * it is written only on demand, or with consent where the client has no other way.
 */
export function keyChoice({ secret }: Client, { isNeeded, key, mayBePlain }: GivenKey): KeyChoice {
  if (!isNeeded) return { kind: 'none' }
  if (!mayBePlain && secret.kind !== 'none') return { kind: 'referred' }
  return key === undefined ? { kind: 'missing' } : { kind: 'plain', key, needsConsent: !mayBePlain }
}

/** Says where the key is, and what a person has to do for it. */
export function keyNote({ title, secret }: Client, choice: KeyChoice): string[] {
  if (choice.kind === 'none') return []
  if (choice.kind === 'plain') {
    return ['The file holds the key in plain text, and is made readable to you alone.']
  }
  switch (secret.kind) {
    case 'prompt':
      return [`${title} asks for the key when it first starts the server, and keeps it.`]
    case 'listed':
      return [`The key is not in the file: put ${keyVariable} into ${secret.where}.`]
    default:
      return [`The key is not in the file: set ${keyVariable} in the environment of ${title}.`]
  }
}

/** Why a client gets no entry without the key. */
export const missingKeyNote = ({ title }: Client): string =>
  `${title} would need the key in its file: set ${keyVariable}, and run the command again.`

/** Why a client gets no entry without consent. */
export const plainKeyNote = ({ title }: Client): string =>
  `${title} has no place for secrets, so the key would be in its file in plain text. Give --key-in-files to allow that.`
