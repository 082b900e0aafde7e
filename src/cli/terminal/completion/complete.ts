import { safeLine } from '../../../text/safe-text.ts'
import type { Terminal } from '../terminal.ts'
import { type CompletionSources, candidatesFor } from './candidates.ts'

/** Longest meaning that is shown beside a candidate. */
const longestAbout = 80

/** Prints what the last of the words may become, and gives the exit code. */
export async function complete(
  words: readonly string[],
  sources: CompletionSources,
  { print }: Terminal,
): Promise<number> {
  const lines = candidatesFor(words, sources).map(
    ({ word, about }) => `${word}\t${shortAbout(about)}`,
  )
  if (lines.length > 0) await print(lines.join('\n'))
  return 0
}

/** The first sentence, on one line. */
const shortAbout = (about: string) => safeLine(about.split('. ')[0] ?? '').slice(0, longestAbout)
