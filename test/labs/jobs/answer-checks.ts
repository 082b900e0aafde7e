/** Checks an answer. Returns the problem, or `undefined` if the answer is right. */
export type Fact = (answer: string) => string | undefined

/** The lines of an answer, including table rows, without Markdown marks. */
const linesOf = (answer: string) =>
  answer
    .replaceAll(/[*_`|]+/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

const wholeWord = (name: string) =>
  new RegExp(`(?<![\\p{L}\\d+])${escaped(name)}(?![\\p{L}\\d])`, 'iu')

/** Removes from a line all longer names that contain `name`. */
const withoutLonger = (line: string, name: string, others: readonly string[]) =>
  others
    .filter((other) => other !== name && other.includes(name))
    .reduce((text, other) => text.replaceAll(new RegExp(escaped(other), 'gi'), ' '), line)

/** Lines that contain a name, but not as part of a longer name. `others`: all existing names. */
const linesAbout = (answer: string, name: string, others: readonly string[] = []): string[] =>
  linesOf(answer).filter((line) => wholeWord(name).test(withoutLonger(line, name, others)))

const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'

/** Dates, times and telephone numbers, which are not counts. */
const noCounts = new RegExp(
  [
    '\\d{4}-\\d{2}-\\d{2}(?:T[\\d:.+Z-]*)?',
    `\\b\\d{1,2}(?:st|nd|rd|th)?\\.? (?:${months})[a-z]*\\.?(?: 20\\d\\d)?`,
    `\\b(?:${months})[a-z]*\\.? \\d{1,2}(?:st|nd|rd|th)?\\b(?:,? 20\\d\\d)?`,
    '\\b\\d{1,2}\\.\\d{1,2}\\.(?:\\d{4})?',
    '\\b\\d{1,2}:\\d{2}\\b',
    '\\+\\d[\\d-]{8,}',
  ].join('|'),
  'gi',
)

/** The counts in a text. "none" is 0. */
const countsIn = (text: string): number[] =>
  (
    text
      .replaceAll(noCounts, ' ')
      .replaceAll(/\b(?:none|zero|no)\b/gi, '0')
      .match(/(?<![\p{L}\d.])(?:\d{1,3}(?:[,\u202f]\d{3})+|\d+)(?:\.\d+)?(?!\d)/gu) ?? []
  ).map((match) => Number(match.replaceAll(/[,\u202f]/g, '')))

/**
 * The counts for a name in a line: those after the name, or all of the line if fewer than `min`
 * follow.
 */
function countsFor(line: string, name: string, others: readonly string[], min: number): number[] {
  const text = withoutLonger(line, name, others)
  const match = wholeWord(name).exec(text)
  const [index, found] = match ? [match.index, match[0]] : [0, '']
  const after = countsIn(text.slice(index + found.length))
  return after.length >= min ? after : countsIn(text.replace(found, ' '))
}

/** Checks that the line about a name begins with these numbers, each within `within`. */
export const counts = (
  name: string,
  expected: readonly { value: number; within?: number }[],
  others: readonly string[],
): Fact => {
  const wanted = expected.map(({ value }) => Math.round(value)).join(', ')
  return (answer) => {
    const lines = linesAbout(answer, name, others)
    if (lines.length === 0) return `says nothing about ${name} (${wanted})`
    const isRight = (numbers: readonly number[]) =>
      expected.every(({ value, within = 0 }, index) => {
        const found = numbers[index]
        return found !== undefined && Math.abs(found - value) <= within
      })
    // A name may appear in several lines, such as a summary. All of its lines with numbers must be
    // right.
    const counted = lines
      .map((line) => countsFor(line, name, others, expected.length))
      .filter((numbers) => numbers.length >= expected.length)
    if (counted.length > 0 && counted.every(isRight)) return undefined
    return `${name}: ${wanted} expected, not "${lines.join(' / ')}"`
  }
}

/** Checks the counts of these names. Lines about other names may contain no number but 0. */
export const countsExactly = (
  expected: ReadonlyMap<string, Parameters<typeof counts>[1]>,
  all: readonly string[],
): Fact[] => [
  ...[...expected].map(([name, numbers]) => counts(name, numbers, all)),
  ...all
    .filter((name) => !expected.has(name))
    .map(
      (name): Fact =>
        (answer) => {
          const wrong = linesAbout(answer, name, all).find((line) =>
            countsFor(line, name, all, 1).some((value) => value !== 0),
          )
          return wrong === undefined ? undefined : `counts ${name}: "${wrong}"`
        },
    ),
]

/** Checks that a line with the name matches `right`, and that no line with it matches `wrong`. */
export const says =
  (name: string, right: RegExp, wrong?: RegExp): Fact =>
  (answer) => {
    const lines = linesAbout(answer, name)
    if (lines.length === 0) return `says nothing about ${name}`
    if (!lines.some((line) => right.test(line)))
      return `does not say ${right} of ${name}: "${lines[0]}"`
    const falseLine = wrong && lines.find((line) => wrong.test(line))
    return falseLine === undefined ? undefined : `says ${wrong} of ${name}: "${falseLine}"`
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

/**
 * Checks that the answer has exactly these of the possible names. Other names may appear only to be
 * ruled out.
 */
export const namesExactly =
  (wanted: readonly string[], all: readonly string[], isLeftOut?: RegExp): Fact =>
  (answer) => {
    const missing = wanted.filter((name) => linesAbout(answer, name, all).length === 0)
    const extra = all.filter(
      (name) =>
        !wanted.includes(name) &&
        linesAbout(answer, name, all).some((line) => !isLeftOut?.test(line)),
    )
    return differences(missing, extra)
  }

const differences = (missing: readonly string[], extra: readonly string[]) =>
  missing.length + extra.length === 0
    ? undefined
    : [...missing.map((one) => `does not name ${one}`), ...extra.map((one) => `names ${one}`)].join(
        '; ',
      )

/**
 * A North American telephone number in any spacing. All numbers of the company and its contacts are
 * North American.
 */
const telephone = /\+1[ .()-]*\d{3}[ .()-]*\d{3}[ .-]*\d{4}(?!\d)/g

const inE164 = (text: string) => text.replaceAll(/[^\d+]/g, '')

/** Checks that the answer contains exactly these telephone numbers, and optionally some others. */
export const telephonesExactly =
  (wanted: readonly string[], mayHave: readonly string[] = []): Fact =>
  (answer) => {
    const found = new Set((answer.match(telephone) ?? []).map(inE164))
    const missing = wanted.filter((number) => !found.has(number))
    const extra = [...found].filter(
      (number) => !wanted.includes(number) && !mayHave.includes(number),
    )
    return differences(missing, extra)
  }

/** Like `says`, for a telephone number in any spacing. */
export const saysOfNumber =
  (number: string, right: RegExp, wrong?: RegExp): Fact =>
  (answer) =>
    says(number, right, wrong)(answer.replaceAll(telephone, inE164))
