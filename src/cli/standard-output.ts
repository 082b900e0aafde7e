import { once } from 'node:events'

/** Writes to standard output. A reader that is slow is waited for; one that has gone needs no more. */
export async function writeOutput(text: string): Promise<void> {
  const { stdout } = process
  if (stdout.write(text) || stdout.destroyed) return
  await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => undefined)
}
