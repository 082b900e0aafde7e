/** What an answer is to say: a problem, or nothing when it says so. */
export type Fact = (answer: string) => string | undefined

/** The lines of an answer without marks of Markdown; rows of tables are lines, too. */
const linesOf = (answer: string) =>
  answer
    .replaceAll(/[*_`|]+/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Whether a line has that name, as a word of its own and not as a part of a longer name. */
function isAbout(line: string, name: string, others: readonly string[]): boolean {
  const longer = others.filter((other) => other !== name && other.includes(name))
  const rest = longer.reduce(
    (text, other) => text.replaceAll(new RegExp(escaped(other), 'gi'), ' '),
    line,
  )
  return new RegExp(`(?<![\\p{L}\\d+])${escaped(name)}(?![\\p{L}\\d])`, 'iu').test(rest)
}

/** The lines that are about a name. `others` are all names that the answer may have. */
const linesAbout = (answer: string, name: string, others: readonly string[] = []): string[] =>
  linesOf(answer).filter((line) => isAbout(line, name, others))

/** The numbers of a text, without those that are part of a word, a date or a telephone number. */
const numbersIn = (text: string): number[] =>
  (
    text.match(
      /(?<![\p{L}\d+.:-])\d{1,3}(?:[,\u202f ]\d{3})+(?![\d])|(?<![\p{L}\d+.:-])\d+(?:\.\d+)?(?![\d:-])/gu,
    ) ?? []
  ).map((match) => Number(match.replaceAll(/[,\u202f ]/g, '')))

/** The line about a name has these numbers first, each within `within` of it. */
export const counts = (
  name: string,
  expected: readonly { value: number; within?: number }[],
  others: readonly string[],
): Fact => {
  const wanted = expected.map(({ value }) => Math.round(value)).join(', ')
  return (answer) => {
    const lines = linesAbout(answer, name, others)
    if (lines.length === 0) return `says nothing about ${name} (${wanted})`
    const rows = lines.map((line) => numbersIn(line.replace(new RegExp(escaped(name), 'i'), ' ')))
    const isRight = (numbers: readonly number[]) =>
      expected.every(({ value, within = 0 }, index) => {
        const found = numbers[index]
        return found !== undefined && Math.abs(found - value) <= within
      })
    // A name may be in several lines, in a summary for example: those with numbers must all be right.
    const counted = rows.filter((numbers) => numbers.length >= expected.length)
    if (counted.length > 0 && counted.every(isRight)) return undefined
    return `${name}: ${wanted} expected, not "${lines.join(' / ')}"`
  }
}

/** Names that must not be counted: a line about one of them has no number but 0. */
export const countsNothingOf = (names: readonly string[], others: readonly string[]): Fact[] =>
  names.map((name) => (answer) => {
    const lines = linesAbout(answer, name, others)
    const wrong = lines.find((line) =>
      numbersIn(line.replace(new RegExp(escaped(name), 'i'), ' ')).some((value) => value !== 0),
    )
    return wrong === undefined ? undefined : `counts ${name}: "${wrong}"`
  })

/** A line about the name says one of these, and no line about it says one of the others. */
export const says =
  (name: string, right: RegExp, wrong?: RegExp): Fact =>
  (answer) => {
    const lines = linesAbout(answer, name)
    if (lines.length === 0) return `says nothing about ${name}`
    if (!lines.some((line) => right.test(line)))
      return `does not say ${right} of ${name}: "${lines[0]}"`
    const false_ = wrong && lines.find((line) => wrong.test(line))
    return false_ === undefined ? undefined : `says ${wrong} of ${name}: "${false_}"`
  }

export const mentions =
  (wanted: string | RegExp): Fact =>
  (answer) => {
    const isThere =
      typeof wanted === 'string'
        ? answer.toLowerCase().includes(wanted.toLowerCase())
        : wanted.test(answer)
    return isThere ? undefined : `does not mention ${wanted}`
  }

export const doesNotMention =
  (unwanted: string | RegExp): Fact =>
  (answer) =>
    mentions(unwanted)(answer) === undefined ? `mentions ${unwanted}` : undefined

/** Of all names that could be meant, the answer has these and no others. */
export const namesExactly =
  (wanted: readonly string[], all: readonly string[]): Fact =>
  (answer) => {
    const has = (name: string) => linesAbout(answer, name, all).length > 0
    const missing = wanted.filter((name) => !has(name))
    const extra = all.filter((name) => !wanted.includes(name) && has(name))
    if (missing.length === 0 && extra.length === 0) return undefined
    return [
      ...missing.map((name) => `does not name ${name}`),
      ...extra.map((name) => `names ${name}`),
    ].join('; ')
  }

/** The telephone numbers of the answer are these, beside those that it may have. */
export const telephonesExactly =
  (wanted: readonly string[], mayHave: readonly string[] = []): Fact =>
  (answer) => {
    const found = new Set(
      (answer.match(/\+\d[\d ()-]{6,18}\d/g) ?? []).map((text) => text.replaceAll(/[^\d+]/g, '')),
    )
    const missing = wanted.filter((number) => !found.has(number))
    const extra = [...found].filter(
      (number) => !wanted.includes(number) && !mayHave.includes(number),
    )
    if (missing.length === 0 && extra.length === 0) return undefined
    return [
      ...missing.map((number) => `does not give ${number}`),
      ...extra.map((number) => `gives ${number}`),
    ].join('; ')
  }
