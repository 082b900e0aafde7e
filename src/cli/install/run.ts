import type { ExitCodes } from '../../config/exit-codes.ts'
import { type Change, changeClient, type Decide } from './change-client.ts'
import { type ClosestWord, namedClients } from './chosen-clients.ts'
import { type Client, clients, isInstalled } from './clients.ts'
import type { Machine } from './machine.ts'
import type { Outcome } from './outcome.ts'
import type { Questions } from './questions.ts'
import { jsonReport, type Report, textReport } from './report.ts'
import { UsageError } from './usage-error.ts'

/** How install and uninstall are asked to work. */
export interface RunOptions {
  /** Names of clients; none: every client that is found. */
  readonly clients: readonly string[]
  /** The name of the server in the files. */
  readonly name: string
  readonly isPrint: boolean
  readonly isYes: boolean
  readonly wantsJson: boolean
}

/** What the commands work with; tests give their own. */
export interface Surroundings {
  readonly machine: Machine
  /** `undefined`: there is no terminal. */
  readonly questions: Questions | undefined
  readonly print: (line: string) => void
  readonly warn: (line: string) => void
  // The commands are given these two, because they load this part without the files that have them.
  /** The name that was most likely meant. */
  readonly closestWord: ClosestWord
  readonly exitCodes: ExitCodes
}

/** The change of one client's file, or why there is none. */
export type ChangeFor = (client: Client) => (Change & { readonly consent?: string }) | string

/** Changes the files of the clients one after the other, and gives the exit code. Throws UsageError. */
export async function changeClients(
  options: RunOptions,
  surroundings: Surroundings,
  changeFor: ChangeFor,
  endNotes: (outcomes: readonly Outcome[]) => readonly string[],
): Promise<number> {
  const { machine, questions, print, warn, exitCodes } = surroundings
  const chosen = chosenClients(options.clients, surroundings)
  const { isPrint, isYes, wantsJson } = options
  if (!isPrint && !isYes && (wantsJson || !questions)) {
    warn(
      'Nobody can be asked here. Give --print to see the changes, or --yes to make them without questions.',
    )
    return exitCodes.usage
  }
  const report = wantsJson ? jsonReport(print) : textReport(print)
  const outcomes: Outcome[] = []
  for (const client of chosen) {
    const change = changeFor(client)
    const outcome =
      typeof change === 'string'
        ? refused(client, machine, change)
        : await changeClient(
            client,
            machine,
            change,
            decider(options, report, questions, change),
            warn,
          )
    report.result(outcome)
    outcomes.push(outcome)
  }
  report.end(outcomes, endNotes(outcomes))
  return outcomes.some(({ status }) => status === 'failed') ? exitCodes.failed : exitCodes.done
}

function chosenClients(
  names: readonly string[],
  { machine, closestWord }: Surroundings,
): readonly Client[] {
  if (names.length > 0) return namedClients(names, closestWord)
  const found = clients.filter((client) => isInstalled(client, machine))
  if (found.length > 0) return found
  throw new UsageError(
    `No client was found on this machine. Name one, and its file is made: ${clients.map(({ id }) => id).join(', ')}.`,
  )
}

const refused = (client: Client, machine: Machine, note: string): Outcome => ({
  client,
  file: client.locate(machine).file,
  status: 'failed',
  change: [],
  notes: [note],
  backup: undefined,
})

function decider(
  { isPrint, isYes }: RunOptions,
  report: Report,
  questions: Questions | undefined,
  { consent }: { consent?: string },
): Decide {
  return async (planned) => {
    report.change(planned)
    if (isPrint || !questions) return isPrint ? 'show' : 'write'
    if (isYes) return 'write'
    const agreed = await questions.confirm(consent ?? 'Write this?', consent === undefined)
    return agreed ? 'write' : 'decline'
  }
}
