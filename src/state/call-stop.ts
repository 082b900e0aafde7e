import * as z from 'zod'
import type { Journal } from './journal.ts'
import { StateError } from './state-access.ts'

/** An operator's decision that no server with this state places a call. */
export const CallStop = z.object({
  /** Who has decided it. */
  by: z.string(),
  /** When, ISO 8601, by the clock of the machine of that command. */
  at: z.string(),
  reason: z.string().optional(),
})
export type CallStop = z.output<typeof CallStop>

/**
 * The name of the note in the journal. A server that places calls cannot do without the journal, and all
 * servers that share a state have the same: so none misses the stop, and it outlives every restart.
 */
export const callStopNote = 'calls stopped'

/** The stop that a note holds; `undefined`: calls are placed. Throws StateError if it cannot be read. */
export function callStopIn(note: string | undefined): CallStop | undefined {
  if (note === undefined || note === '') return undefined
  try {
    return CallStop.parse(JSON.parse(note))
  } catch (cause) {
    throw new StateError(
      'The note of who has stopped calls is damaged. Write it again with voice-agent-mcp calls stop or calls resume.',
      { cause },
    )
  }
}

/** Throws StateError. */
export const readCallStop = async (
  journal: Pick<Journal, 'readNote'>,
): Promise<CallStop | undefined> => callStopIn(await journal.readNote(callStopNote))

/** Stops calls, or lets them be placed again. Throws StateError. */
export const writeCallStop = (
  journal: Pick<Journal, 'writeNote'>,
  stop: CallStop | undefined,
): Promise<void> => journal.writeNote(callStopNote, stop ? JSON.stringify(stop) : '')
