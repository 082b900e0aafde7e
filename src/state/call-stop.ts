import * as z from 'zod'
import type { Journal } from './call-journal.ts'
import { StateError } from './state-access.ts'

/** An operator's stop: no server that shares this state places a call. */
export const CallStop = z.object({
  by: z.string(),
  /** ISO 8601, by the clock of the machine on which an operator stopped calls. */
  at: z.string(),
  reason: z.string().optional(),
})
export type CallStop = z.output<typeof CallStop>

/** One sentence about a stop of all calls: who stopped them, when and why. */
export const callStopText = ({ by, at, reason }: CallStop): string =>
  `All calls were stopped at ${at} by ${by}${reason === undefined ? '' : `: ${reason}`}.`

/**
 * Name of the journal's note that stores the stop. Every server needs the shared journal to place a
 * call, so no server misses the stop. It survives restarts.
 */
export const callStopNote = 'calls stopped'

/** Reads the stop; `undefined`: calls are not stopped. Throws StateError. */
export async function readCallStop(
  journal: Pick<Journal, 'readNote'>,
): Promise<CallStop | undefined> {
  const note = await journal.readNote(callStopNote)
  if (note === undefined || note === '') return undefined
  try {
    return CallStop.parse(JSON.parse(note))
  } catch (cause) {
    throw new StateError(
      'The record of who stopped calls is damaged. Write it again with voice-agent-mcp calls stop or voice-agent-mcp calls resume.',
      { cause },
    )
  }
}

/** Stops or resumes calls. Throws StateError. */
export const writeCallStop = (
  journal: Pick<Journal, 'writeNote'>,
  stop: CallStop | undefined,
): Promise<void> => journal.writeNote(callStopNote, stop ? JSON.stringify(stop) : '')
