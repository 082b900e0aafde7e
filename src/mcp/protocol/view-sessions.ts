import { randomUUID } from 'node:crypto'
import { declaresViews } from '../../apps/views.ts'
import { type GetHeader, headerNames } from './envelope.ts'

const prefix = 'views-'

/**
 * Makes the session header of a client of the 2025 revisions from its capabilities. This server keeps
 * no sessions, so the header itself, which the client sends back with each request, says whether it
 * shows views.
 */
export type NewSession = (capabilities: unknown) => string

export const newSession: NewSession = (capabilities) =>
  `${declaresViews(capabilities) ? prefix : ''}${randomUUID()}`

/** Whether a request of the 2025 revisions over HTTP comes from a client that shows views. */
export const isViewSession = (header: GetHeader): boolean =>
  header(headerNames.session)?.startsWith(prefix) ?? false
