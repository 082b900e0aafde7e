import { isObject } from '../../json/is-object.ts'
import { safeLine } from '../../text/safe-text.ts'
import type { ChangedText } from './checked-change.ts'
import { endsLine, lineStartOf, placeOf } from './text-format.ts'

/** Shown instead of a secret. */
const masked = '(not shown)'

/**
 * The change of a file as lines of a diff: `@@ line 7 @@`, then lines with `-` and `+`. Only what the
 * edits change is shown, and the rest of a line as `…`, because it may be a secret of somebody else.
 */
export function shownChange(changed: ChangedText, secrets: readonly string[]): string[] {
  return stepsShown(changed).flatMap(({ before, edits }) =>
    edits.flatMap(({ start, end, text }) => {
      const hasBefore = before.slice(lineStartOf(before, start), start).trim() !== ''
      const around = {
        before: hasBefore ? '…' : before.slice(lineStartOf(before, start), start),
        after: endsLine(before, end) ? '' : '…',
      }
      return [
        `@@ line ${placeOf(before, start).line} @@`,
        ...linesOf('-', before.slice(start, end), around, secrets),
        ...linesOf('+', text, around, secrets),
      ]
    }),
  )
}

/** The steps of a change; what they make of an empty file is shown as one. */
function stepsShown({ text, changes }: ChangedText): ChangedText['changes'] {
  const before = changes[0]?.before
  if (before === undefined || before.trim() !== '') return changes
  return [{ before, edits: [{ start: 0, end: before.length, text }] }]
}

function linesOf(
  sign: string,
  text: string,
  around: { before: string; after: string },
  secrets: readonly string[],
): string[] {
  if (text.trim() === '') return []
  const shown = secrets.reduce((rest, secret) => rest.replaceAll(secret, masked), text)
  return `${around.before}${shown}${around.after}`
    .split(/\r?\n/)
    .filter((line) => !/^[\s…]*$/.test(line))
    .map((line) => sign + safeLine(line.replaceAll('\t', '  ')))
}

/** Fields of an entry whose values are not shown: a person may have put keys there. */
const secretFields = ['env', 'envs', 'headers', 'http_headers']

/**
 * The values of an entry that may be secrets, as they can be written: variables and headers, and
 * what follows a flag for a key. References to a secret are none.
 */
export function secretsOf(entry: unknown): string[] {
  if (!isObject(entry)) return []
  const fields = secretFields.flatMap((field) => {
    const values = entry[field]
    return isObject(values) ? Object.entries(values) : []
  })
  const args = Array.isArray(entry.args) ? entry.args : []
  const ofFlags = args.flatMap((arg: unknown, at): unknown[] => {
    const [flag = '', value] = String(arg).split('=', 2)
    if (!/key|token|secret|password/i.test(flag)) return []
    return [value ?? args[at + 1]]
  })
  const ofFields = fields.flatMap(([name, value]) => (publicNames.has(name) ? [] : [value]))
  return [...ofFields, ...ofFlags]
    .filter((value) => typeof value === 'string')
    .filter((value) => value.length > 2 && !/^\$\{[^}]*\}$/.test(value))
    .flatMap((value) => [JSON.stringify(value).slice(1, -1), value])
}

const publicNames = new Set(['VOICE_AGENT_BASE_URL', 'PATH'])
