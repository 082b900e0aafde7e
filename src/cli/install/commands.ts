import { safeLine } from '../../text/safe-text.ts'
import type { ExitCodes } from '../config/config-error.ts'
import type { Environment } from '../config/given-settings.ts'
import type { InstallConfig } from '../config/install.ts'
import {
  type Change,
  changeClient,
  type Decide,
  type Outcome,
  outcomeJson,
} from './change-client.ts'
import {
  type Client,
  clients,
  isInstalled,
  type Machine,
  thisMachine,
  UsageError,
} from './clients.ts'
import { type LaunchCommand, launchCommand, thisProcess } from './launch-command.ts'
import { clientList, findClients } from './list.ts'
import { InterruptedError, type Questions, terminalQuestions } from './questions.ts'
import {
  type GivenKey,
  keyChoice,
  keyNote,
  missingKeyNote,
  plainKeyNote,
  stepsToAdd,
  stepsToRemove,
} from './server-entry.ts'

/*
 * What the commands install and uninstall do in this process. They load all of it with this file, so
 * that the other commands start without it. What the start of every command needs is passed in: as an
 * import it would become a file of its own, which every start would have to open.
 */

/** What the command line hands over. */
interface Program extends Pick<Surroundings, 'closestWord' | 'exitCodes'> {
  readonly env: Environment
  /** The package with its version. */
  readonly packageId: string
}

/** Adds the server to clients, or lists them, and gives the exit code. */
export const runInstall = (
  config: InstallConfig & Pick<RunOptions, 'clients'>,
  program: Program,
): Promise<number> =>
  reported(program, async (here) => {
    if (config.isList) {
      here.print(clientList(findClients(here.machine, config.name), config.wantsJson))
      return here.exitCodes.done
    }
    const launch = launchCommand(thisProcess(program.env, program.packageId))
    const { baseUrl, apiKey, mayKeyBePlain, flags } = config
    const key = { isNeeded: baseUrl !== undefined, key: apiKey, mayBePlain: mayKeyBePlain }
    const args = [...launch.args, ...flags]
    return install({ ...config, key, launch: { ...launch, args } }, here)
  })

/** Takes the server out of clients, and gives the exit code. */
export const runUninstall = (options: RunOptions, program: Program): Promise<number> =>
  reported(program, (here) => uninstall(options, here))

/** Runs with this process: results on standard output, errors and questions on standard error. */
async function reported(
  { env, closestWord, exitCodes }: Program,
  run: (here: Surroundings) => Promise<number>,
): Promise<number> {
  const warn = (line: string) => process.stderr.write(`voice-agent-mcp: ${line}\n`)
  try {
    return await run({
      machine: thisMachine(env),
      questions: process.stdin.isTTY && process.stderr.isTTY ? terminalQuestions() : undefined,
      print: (line) => process.stdout.write(`${line}\n`),
      warn,
      closestWord,
      exitCodes,
    })
  } catch (error) {
    if (error instanceof InterruptedError) {
      process.stderr.write('\n')
      return exitCodes.interrupted
    }
    if (!(error instanceof UsageError)) throw error
    warn(error.message)
    return exitCodes[error.exit]
  }
}

/** What is to be installed. */
export interface InstallOptions extends RunOptions {
  readonly launch: LaunchCommand
  /** Address of the platform for the files; `undefined`: none, or a configuration file has it. */
  readonly baseUrl: string | undefined
  /** Where the settings come from if not from the client's file. */
  readonly isSandbox: boolean
  readonly key: GivenKey
}

/** Adds the server to clients, and gives the exit code. Throws UsageError. */
export function install(options: InstallOptions, surroundings: Surroundings): Promise<number> {
  return changeClients(options, surroundings, changeFor(options), (outcomes) =>
    options.isSandbox && outcomes.some(({ status }) => status !== 'failed') ? [sandboxNote] : [],
  )
}

const sandboxNote =
  'Without a key the server runs on its built-in sandbox: no real account, nothing is dialled. For your own account run install again with --base-url URL and VOICE_AGENT_API_KEY set. An entry that had an account before keeps it.'

const changeFor =
  ({ name, launch, baseUrl, isSandbox, key, isYes, isPrint }: InstallOptions): ChangeFor =>
  (client) => {
    const choice = keyChoice(client, key)
    if (choice.kind === 'missing') return missingKeyNote(client)
    const needsConsent = choice.kind === 'plain' && choice.needsConsent
    if (needsConsent && isYes && !isPrint) return plainKeyNote(client)
    const plainKey = choice.kind === 'plain' ? choice.key : undefined
    return {
      name,
      stepsFor: (data) =>
        stepsToAdd(client, data, { name, launch, baseUrl, plainKey, keepsAccount: isSandbox }),
      secrets: plainKey === undefined ? [] : [plainKey, JSON.stringify(plainKey).slice(1, -1)],
      isPrivate: plainKey !== undefined,
      notes: keyNote(client, choice),
      ...(needsConsent && { consent: consentQuestion(client) }),
    }
  }

const consentQuestion = ({ title }: Client) =>
  `${title} has no place for secrets. Write this with the key in plain text?`

/** Takes the server out of clients, and gives the exit code. Throws UsageError. */
export const uninstall = (options: RunOptions, surroundings: Surroundings): Promise<number> =>
  changeClients(
    options,
    surroundings,
    (client) => ({
      name: options.name,
      stepsFor: (data) => stepsToRemove(client, data, options.name),
      secrets: [],
      isPrivate: false,
      notes: [],
    }),
    () => [],
  )

/** How install and uninstall are asked to work. */
interface RunOptions {
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
type ChangeFor = (client: Client) => (Change & { readonly consent?: string }) | string

/** Changes the files of the clients one after the other, and gives the exit code. Throws UsageError. */
async function changeClients(
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

/** The known word that a mistyped one most likely means. */
type ClosestWord = (word: string, known: readonly string[]) => string | undefined

/** The clients that are named. Throws UsageError for a name that is of none. */
export const namedClients = (names: readonly string[], closestWord: ClosestWord): Client[] => [
  ...new Set(names.map((name) => clientNamed(name, closestWord))),
]

function clientNamed(name: string, closestWord: ClosestWord): Client {
  const found = clients.find(({ id, title }) => [id, title].some((one) => fold(one) === fold(name)))
  if (found) return found
  const ids = clients.map(({ id }) => id)
  const meant = closestWord(name, ids)
  const hint = meant === undefined ? '' : ` Is ${meant} meant?`
  throw new UsageError(
    `There is no client ${JSON.stringify(name.slice(0, 64))}.${hint} There are ${ids.join(', ')}.`,
    'usage',
  )
}

/** "VS Code", `vs-code` and `vscode` are one name. */
const fold = (name: string) => name.toLowerCase().replaceAll(/[^a-z]/g, '')

/** Tells the person, or another program, what is done. */
interface Report {
  /** A change that is about to be decided. */
  change(outcome: Outcome): void
  /** What became of a client's file. */
  result(outcome: Outcome): void
  /** At the end: what holds for all, and what is left to do. */
  end(outcomes: readonly Outcome[], notes: readonly string[]): void
}

/** Text that is written as it goes on. */
function textReport(print: (line: string) => void): Report {
  const shown = new Set<string>()
  const head = ({ client, file, change }: Outcome) => {
    if (shown.has(client.id)) return
    shown.add(client.id)
    print(`${client.title}: ${safeLine(file)}`)
    for (const line of change) print(`  ${line}`)
  }
  return {
    change: head,
    result(outcome) {
      head(outcome)
      print(`  ${resultText(outcome)}`)
      for (const note of outcome.notes) print(`  ${safeLine(note)}`)
      if (outcome.backup !== undefined) print(`  As it was before: ${safeLine(outcome.backup)}`)
      if (outcome.status === 'written') print(`  ${outcome.client.restart}`)
      print('')
    },
    end(_, notes) {
      for (const note of notes) print(note)
    },
  }
}

const resultText = ({ status }: Outcome) => resultTexts[status]

const resultTexts = {
  written: 'Written.',
  planned: 'Not written: --print only shows.',
  unchanged: 'Nothing to change.',
  declined: 'Left as it is.',
  failed: 'Not changed.',
} satisfies Record<Outcome['status'], string>

/** One JSON object at the end. */
const jsonReport = (print: (line: string) => void): Report => ({
  change: () => undefined,
  result: () => undefined,
  end(outcomes, notes) {
    print(JSON.stringify({ clients: outcomes.map(outcomeJson), notes }, undefined, 2))
  },
})
