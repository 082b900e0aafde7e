/**
 * Searching text for text in a time that is proportional to both. V8's own search may compare a
 * long pattern anew at nearly every position, and its search from the right does so with short
 * ones too: a template of 98 characters kept it busy for a minute.
 */

/** Up to this length V8's search is linear: its tables cover the whole pattern. */
const shortPattern = 32

/** Where `part` first occurs at or after `from`, or -1. */
export function findFirst(text: string, part: string, from = 0): number {
  if (part.length <= shortPattern || part.length > text.length - from) {
    return text.indexOf(part, from)
  }
  return new Search(part, from).next(text, false)
}

/** Where `part` last occurs, or -1. */
export function findLast(text: string, part: string): number {
  if (part.length <= 1 || part.length > text.length) return text.lastIndexOf(part)
  let last = -1
  for (const at of eachPosition(text, part, true)) last = at
  return last
}

/** Where `part`, which is not empty, occurs in `text`, without overlaps. */
export function positionsOf(text: string, part: string): Generator<number> {
  return eachPosition(text, part, false)
}

function* eachPosition(text: string, part: string, overlapping: boolean): Generator<number> {
  if (part.length > text.length) return
  if (part.length <= shortPattern) {
    const step = overlapping ? 1 : part.length
    for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + step)) yield at
    return
  }
  const search = new Search(part)
  let at = search.next(text, overlapping)
  while (at >= 0) {
    yield at
    at = search.next(text, overlapping)
  }
}

/** The search of Knuth, Morris and Pratt: it never goes back in the text. */
class Search {
  private readonly part: string
  /** How much of the pattern's beginning is also the end of its first n characters. */
  private readonly borders: Int32Array
  /** How much of the pattern stands right before `at`. */
  private matched = 0
  private at: number

  constructor(part: string, from = 0) {
    this.part = part
    this.at = from
    this.borders = new Int32Array(part.length + 1)
    for (let end = 1, length = 0; end < part.length; end++) {
      length = this.extend(part.charCodeAt(end), length)
      this.borders[end + 1] = length
    }
  }

  /** The longest beginning of the pattern that ends with this character. */
  private extend(code: number, matched: number): number {
    let length = matched
    while (length > 0 && (length === this.part.length || this.part.charCodeAt(length) !== code)) {
      length = this.borders[length] ?? 0
    }
    return this.part.charCodeAt(length) === code ? length + 1 : 0
  }

  /**
   * The next place; after one was found, the next that overlaps it, or where it must not, the next
   * behind it.
   */
  next(text: string, overlapping: boolean): number {
    const { part } = this
    if (this.matched === part.length && !overlapping) this.matched = 0
    while (this.at < text.length) {
      this.matched = this.extend(text.charCodeAt(this.at), this.matched)
      this.at++
      if (this.matched === part.length) return this.at - this.matched
    }
    return -1
  }
}
