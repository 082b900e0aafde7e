/** Longest message over stdio, bytes. The SDK has the same limit. */
const longestLine = 10 * 1024 * 1024

const newline = 0x0a

/** Splits chunks into lines. */
export class Lines {
  #chunks: Buffer[] = []
  #size = 0

  #take(end: Buffer): Buffer {
    const line = this.#chunks.length === 0 ? end : Buffer.concat([...this.#chunks, end])
    this.#chunks = []
    this.#size = 0
    if (line.length > longestLine) throw new Error(`A message is longer than ${longestLine} bytes`)
    return line
  }

  /** The lines that this chunk completes, without blank lines. Throws if a line is too long. */
  *add(chunk: Buffer): Generator<string> {
    let rest = chunk
    for (let at = rest.indexOf(newline); at >= 0; at = rest.indexOf(newline)) {
      const line = this.#take(rest.subarray(0, at)).toString('utf8').trim()
      rest = rest.subarray(at + 1)
      if (line !== '') yield line
    }
    this.#size += rest.length
    if (this.#size > longestLine) {
      throw new Error(`A message is longer than ${longestLine} bytes`)
    }
    if (rest.length > 0) this.#chunks.push(rest)
  }
}
