import { closeSync, openSync, readSync } from 'node:fs'
import { CommandLineError } from '../../config/config-error.ts'

/** Longest text of a file or of standard input, bytes: as long as a message over stdio may be. */
const longestText = 10 * 1024 * 1024

const chunkBytes = 64 * 1024

/**
 * The text of a file, without a byte order mark. It is read piece by piece, because a device or a pipe
 * may have no end. Throws CommandLineError.
 */
export function readTextFile(path: string): string {
  try {
    const descriptor = openSync(path, 'r')
    try {
      return textFrom(path, piecesOf(descriptor))
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (error instanceof CommandLineError) throw error
    const { code } = error as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`
    throw new CommandLineError(`${path}: ${reason}.`)
  }
}

function* piecesOf(descriptor: number): Generator<Uint8Array> {
  for (;;) {
    const piece = Buffer.alloc(chunkBytes)
    const length = readSync(descriptor, piece)
    if (length === 0) return
    yield piece.subarray(0, length)
  }
}

/** The text of standard input, without a byte order mark. Throws CommandLineError. */
export async function readTextStream(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of stream) {
    length += piece.length
    pieces.push(piece)
    if (length > longestText) break
  }
  return textFrom('Standard input', pieces)
}

/**
 * Bytes that are not UTF-8 are refused: as replacement characters they would reach an agent's greeting.
 */
function textFrom(source: string, pieces: Iterable<Uint8Array>): string {
  const kept: Uint8Array[] = []
  let length = 0
  for (const piece of pieces) {
    length += piece.length
    if (length > longestText) {
      throw new CommandLineError(`${source}: it is longer than ${longestText} bytes.`)
    }
    kept.push(piece)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(kept))
  } catch {
    throw new CommandLineError(
      `${source}: it is not UTF-8 text. Save it as UTF-8; PowerShell's > writes UTF-16 on Windows, Set-Content -Encoding utf8 does not.`,
    )
  }
}
