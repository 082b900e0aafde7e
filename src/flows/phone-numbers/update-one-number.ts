import * as z from 'zod'
import type { PhoneNumber } from '../../contract/phone-number.ts'
import { routes } from '../../contract/routes.ts'
import type { Run } from '../../mcp/call/tool.ts'
import {
  bodyOf,
  changesBetweenNumbers,
  ignoredChanges,
  type LinkNames,
  type NumberChange,
  plannedChanges,
} from './number-changes.ts'
import { numberSelection } from './selected-numbers.ts'

/** Arguments of an update beside the fields to change. */
export const updateNumberOptions = {
  ...numberSelection,
  dry_run: z.boolean().optional().describe('true: show the changes, save nothing.'),
}

export type UpdateNumberRun = Run<typeof routes.phoneNumbers.update, typeof updateNumberOptions>

/** What an update did to one number, or would do. */
export interface NumberReport {
  /** The number afterwards. */
  readonly number: PhoneNumber
  /** False: nothing was saved. */
  readonly applied: boolean
  readonly changes: readonly NumberChange[]
  readonly warnings: readonly string[]
}

/**
 * Reads a number, and sends only what differs. If no exposed tool reads numbers, the update is sent
 * without reading. Throws ApiError.
 */
export async function updateOneNumber(
  id: string,
  run: UpdateNumberRun,
  links: LinkNames,
): Promise<NumberReport> {
  const { body, session, restricted, options, signal } = run
  const params = { ...run.request.params, phone_number_id: id }
  const stored = restricted.mayRead(routes.phoneNumbers.get)
    ? await session.client.call(routes.phoneNumbers.get, { params, query: {} }, signal)
    : undefined
  const unread = stored ? [] : [unreadWarning]
  const planned = plannedChanges(stored, body, links)
  if (planned.length === 0 || options.dry_run)
    return { number: stored ?? { id }, applied: false, changes: planned, warnings: unread }
  const sent = { params, query: {}, body: bodyOf(body, planned) }
  const updated = await session.client.call(routes.phoneNumbers.update, sent, signal)
  const ignored = ignoredChanges(planned, updated)
  const changes = changesBetweenNumbers(stored, updated, planned)
  const warnings = [...unread, ...ignored]
  return { number: updated, applied: changes.length > 0, changes, warnings }
}

const unreadWarning = 'what it was before is not known, because no exposed tool reads numbers'
