import { isObject } from '../../text/json.ts'
import { safeLine } from '../../text/safe-text.ts'
import { type ChangedText, endsLine, lineStartOf, placeOf } from './config-text-edits.ts'

/** Shown instead of a secret. */
const masked = '(not shown)'

/**
 * Formats the change of a file as lines of a diff: `@@ line 7 @@`, then lines with `-` and `+`. The
 * unchanged part of a line is shown as `…`, because it may hold another program's secret.
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

/** The steps to show. The change of an empty file is shown as one insertion. */
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

/** Fields of an entry whose values are hidden, because users put keys there. */
const secretFields = ['env', 'envs', 'headers', 'http_headers']

/**
 * Possible secrets of an entry: values of variables, headers and API key flags, each as plain and
 * as JSON text. References to secrets, such as `${VARIABLE}`, do not count.
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
