import { isObject } from '../../text/json.ts'
import { safeLine } from '../../text/safe-text.ts'
import {
  ChangedMeanwhileError,
  type ClientFile,
  ClientFileError,
  readClientFile,
  replaceClientFile,
  withFileLock,
} from './client-file.ts'
import { type Client, clients, isInstalled, type Machine } from './clients.ts'
import {
  type ChangedText,
  changedText,
  endsLine,
  FormatError,
  lineStartOf,
  placeOf,
  type Step,
  valueAt,
} from './config-text-edits.ts'

/** A wanted change of a client's file. */
export interface Change {
  readonly name: string
  readonly stepsFor: (data: unknown) => Step[]
  /** Values that are written but not shown. */
  readonly secrets: readonly string[]
  /** If true, only the user may read the file. */
  readonly isPrivate: boolean
  /** Remarks printed with the change. */
  readonly notes: readonly string[]
  /** Question that asks for the user's consent; absent: the usual question. */
  readonly consent?: string
}

/** The outcome for one client's file. */
export interface Outcome {
  readonly client: Client
  readonly file: string
  /**
   * `written`; `planned`: only shown; `unchanged`: nothing to do; `declined`: the user declined;
   * `failed`: an error, and the file is unchanged.
   */
  readonly status: 'written' | 'planned' | 'unchanged' | 'declined' | 'failed'
  /** The change as lines of a diff, without secrets. */
  readonly change: readonly string[]
  /** The reason for a failure, and further remarks. */
  readonly notes: readonly string[]
  /** Path of the backup. */
  readonly backup: string | undefined
}

/** Decides whether a change is written, after it has been shown to the user. */
export type Decide = (
  outcome: Outcome,
  consent: string | undefined,
) => Promise<'write' | 'show' | 'decline'>

interface Plan {
  readonly file: ClientFile
  readonly changed: ChangedText
  readonly lines: readonly string[]
  /** True if the file, and so its backup, holds secrets of the server. */
  readonly hasSecrets: boolean
}

/**
 * Changes a client's file, or returns the reason why it stays unchanged. `change` may itself be that
 * reason. Calls `warn` if the change takes longer than usual.
 */
export async function changeClient(
  client: Client,
  machine: Machine,
  change: Change | string,
  decide: Decide,
  warn: (line: string) => void,
): Promise<Outcome> {
  const { file } = client.locate(machine)
  if (typeof change === 'string')
    return { client, file, status: 'failed', change: [], notes: [change], backup: undefined }
  const nothing = { client, file, change: [], notes: [], backup: undefined }
  try {
    const plan = planned(client, file, change)
    if (plan.changed.text === plan.file.text) return { ...nothing, status: 'unchanged' }
    const shown = { ...nothing, change: plan.lines, notes: change.notes }
    const decision = await decide({ ...shown, status: 'planned' }, change.consent)
    if (decision === 'show') return { ...shown, status: 'planned' }
    if (decision === 'decline') return { ...shown, notes: [], status: 'declined' }
    const backup = await withFileLock(
      plan.file.path,
      () => written(client, file, change, plan),
      (lock) => warn(`Waiting for another run, which is changing the same file (${lock}) …`),
    )
    const kept = plan.hasSecrets && backup ? [`The backup holds what was secret in it.`] : []
    return { ...shown, notes: [...change.notes, ...kept], status: 'written', backup }
  } catch (error) {
    return { ...nothing, status: 'failed', notes: [reasonOf(error)] }
  }
}

/**
 * Reads the file and computes its changed text and the diff to show. Throws FormatError and
 * ClientFileError.
 */
function planned(client: Client, path: string, change: Change): Plan {
  const file = readClientFile(path)
  const data = client.format.read(file.text)
  const ownSecrets = secretsOf(valueAt(data, [client.servers, change.name]))
  const changed = changedText(client.format, file.text, change.stepsFor(data))
  const secrets = [...change.secrets, ...ownSecrets].toSorted((a, b) => b.length - a.length)
  const lines = shownChange(changed, secrets)
  return { file, changed, lines, hasSecrets: ownSecrets.length > 0 }
}

/**
 * Writes the file. If another program has changed the file meanwhile, applies the change to the new
 * text, provided that the shown diff stays the same.
 */
function written(client: Client, path: string, change: Change, plan: Plan): string | undefined {
  const write = ({ file, changed }: Plan) => replaceClientFile(file, changed.text, change)
  try {
    return write(plan)
  } catch (error) {
    if (!(error instanceof ChangedMeanwhileError)) throw error
    const again = planned(client, path, change)
    if (withoutPlaces(again.lines) !== withoutPlaces(plan.lines)) throw error
    return write(again)
  }
}

const withoutPlaces = (lines: readonly string[]) =>
  lines.filter((line) => !line.startsWith('@@')).join('\n')

/** Reason why a file stays unchanged. */
function reasonOf(error: unknown): string {
  if (error instanceof ChangedMeanwhileError) {
    return `Left as it is: ${error.message}. Run the command again.`
  }
  if (error instanceof ClientFileError) return `Left as it is: ${error.message}.`
  // Parsers recurse at each nesting level, and overflow the stack.
  if (error instanceof RangeError) return 'Left as it is: it is nested too deeply.'
  if (!(error instanceof FormatError)) throw error
  const { line, column, message } = error
  const where = line === undefined ? '' : ` (line ${line}, column ${column})`
  return `Left as it is: ${message}${where}. Correct the file, or add the server by hand.`
}

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
function secretsOf(entry: unknown): string[] {
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

/** A client, with its state on this machine. */
export interface FoundClient {
  readonly client: Client
  readonly file: string
  readonly isFound: boolean
  /**
   * True if the client's file has the server; `undefined` if the file cannot be read, with the
   * reason in `problem`.
   */
  readonly hasServer: boolean | undefined
  /** The entry of the server in the file. */
  readonly entry: unknown
  readonly problem: string | undefined
}

/** All supported clients. */
export const findClients = (machine: Machine, name: string): FoundClient[] =>
  clients.map((client) => {
    const { file } = client.locate(machine)
    const found = { client, file, isFound: isInstalled(client, machine) }
    try {
      const data = client.format.read(readClientFile(file).text)
      const entry = valueAt(data, [client.servers, name])
      return { ...found, hasServer: entry !== undefined, entry, problem: undefined }
    } catch (error) {
      return { ...found, hasServer: undefined, entry: undefined, problem: reasonOf(error) }
    }
  })
