import { type ChangedText, changedText, valueAt } from './checked-change.ts'
import {
  ChangedMeanwhileError,
  type ClientFile,
  ClientFileError,
  readClientFile,
  replaceClientFile,
} from './client-file.ts'
import type { Client } from './clients.ts'
import { withFileLock } from './file-lock.ts'
import type { Machine } from './machine.ts'
import type { Outcome } from './outcome.ts'
import { secretsOf, shownChange } from './shown-change.ts'
import { FormatError, type Step } from './text-format.ts'

/** What is to be changed in a client's file. */
export interface Change {
  /** The name of the server. */
  readonly name: string
  readonly stepsFor: (data: unknown) => Step[]
  /** Values that are written, and not shown. */
  readonly secrets: readonly string[]
  /** Whether the file is to be readable to the user alone. */
  readonly isPrivate: boolean
  /** Shown with the change. */
  readonly notes: readonly string[]
}

/** Decides about a change that is shown: whether it is written. */
export type Decide = (outcome: Outcome) => Promise<'write' | 'show' | 'decline'>

interface Plan {
  readonly file: ClientFile
  readonly changed: ChangedText
  readonly lines: readonly string[]
  /** Whether the file holds secrets of the server, which its backup keeps. */
  readonly hasSecrets: boolean
}

/**
 * Changes a client's file, or leaves it as it is and says why. `warn` is told when it takes longer than
 * usual.
 */
export async function changeClient(
  client: Client,
  machine: Machine,
  change: Change,
  decide: Decide,
  warn: (line: string) => void,
): Promise<Outcome> {
  const { file } = client.locate(machine)
  const nothing = { client, file, change: [], notes: [], backup: undefined }
  try {
    const plan = planned(client, file, change)
    if (plan.changed.text === plan.file.text) return { ...nothing, status: 'unchanged' }
    const shown = { ...nothing, change: plan.lines, notes: change.notes }
    const decision = await decide({ ...shown, status: 'planned' })
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

/** Throws FormatError and ClientFileError. */
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
 * Writes the file. Where another program has changed it meanwhile, the change is made to what is
 * there now, if it still is the change that was shown.
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

/** Why a file is left as it is. */
export function reasonOf(error: unknown): string {
  if (error instanceof ChangedMeanwhileError) {
    return `Left as it is: ${error.message}. Run the command again.`
  }
  if (error instanceof ClientFileError) return `Left as it is: ${error.message}.`
  // Parsers call themselves for each level of a text.
  if (error instanceof RangeError) return 'Left as it is: it is nested too deeply.'
  if (!(error instanceof FormatError)) throw error
  const { line, column, message } = error
  const where = line === undefined ? '' : ` (line ${line}, column ${column})`
  return `Left as it is: ${message}${where}. Correct the file, or add the server by hand.`
}
