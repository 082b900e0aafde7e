import { createHash } from 'node:crypto'

/** The hash that an API key is known by, wherever the key itself must not be. */
export const ownerOf = (apiKey: string): string =>
  createHash('sha256').update(apiKey).digest('base64url')
