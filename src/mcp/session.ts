import type { Client } from '../api/client.ts'

/** One user's access to the platform, for one connection (stdio) or one request (HTTP). */
export interface Session {
  readonly client: Client
  readonly isSandbox: boolean
  /** Where the API key was taken from, in words for a person. */
  readonly keySource: string
  /** Takes the key out of a text that came from elsewhere, before anybody sees it. */
  readonly redact: (text: string) => string
}
