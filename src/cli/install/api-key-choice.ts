import type { Client } from './clients.ts'
import { keyVariable } from './server-entry.ts'

/**
 * How the server gets its API key: not at all (sandbox), in plain text, by reference, or unknown
 * because the client needs it in plain text and none is given.
 */
type KeyChoice =
  | { readonly kind: 'none' }
  | { readonly kind: 'plain'; readonly key: string; readonly needsConsent: boolean }
  | { readonly kind: 'referred' }
  | { readonly kind: 'missing' }

/** Account of the server, as known before the clients' files are read. */
export interface GivenAccount {
  /** Base URL to write to the files; `undefined`: the sandbox, or a configuration file gives it. */
  readonly baseUrl: string | undefined
  readonly apiKey: string | undefined
  /** If true, the key may be written to files in plain text. */
  readonly mayKeyBePlain: boolean
}

/**
 * Chooses the place of the API key: the client's secret store or environment. The key is written in
 * plain text only on request, or with consent if the client supports nothing else.
 */
export function keyChoice(
  { secret }: Client,
  { baseUrl, apiKey: key, mayKeyBePlain }: GivenAccount,
): KeyChoice {
  if (baseUrl === undefined) return { kind: 'none' }
  if (!mayKeyBePlain && secret.kind !== 'none') return { kind: 'referred' }
  return key === undefined
    ? { kind: 'missing' }
    : { kind: 'plain', key, needsConsent: !mayKeyBePlain }
}

/** Notes about the place of the key, and the user's next step. */
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

/** Reason for skipping a client for which no API key is given. */
export const missingKeyNote = ({ title }: Client): string =>
  `${title} would need the key in its file: set ${keyVariable}, and run the command again.`

/** Reason for skipping a client without consent to a plain-text key. */
export const plainKeyNote = ({ title }: Client): string =>
  `${title} has no place for secrets, so the key would be in its file in plain text. Give --key-in-files to allow that.`
