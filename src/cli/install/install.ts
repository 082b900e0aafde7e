import { closestWord, sameWord } from '../../text/closest-match.ts'
import { safeLine } from '../../text/safe-text.ts'
import { CommandLineError, ConfigError } from '../config/config-error.ts'
import { exitCodes } from '../config/exit-codes.ts'
import type { Environment } from '../config/given-settings.ts'
import { launchCommand, type ProgramStart, thisStart } from '../config/launch-command.ts'
import { InterruptedError, type Questions, terminalQuestions } from '../terminal/terminal-io.ts'
import {
  type Change,
  changeClient,
  type Decide,
  type FoundClient,
  findClients,
  type Outcome,
} from './change-client.ts'
import { type Client, clients, isInstalled, type Machine, thisMachine } from './clients.ts'
import { keyVariable, stepsToAdd, stepsToRemove } from './server-entry.ts'

export interface FileChangeOptions {
  /** Client names; empty: every installed client. */
  readonly clients: readonly string[]
  /** Name of the server in the files. */
  readonly name: string
  readonly isPrint: boolean
  readonly isYes: boolean
  readonly wantsJson: boolean
}

export interface InstallOptions extends FileChangeOptions {
  /** If true, only lists the clients. */
  readonly isList: boolean
  /** Flags to write into the server's command. */
  readonly flags: readonly string[]
  /** Base URL to write to the files; `undefined`: the sandbox, or a configuration file gives it. */
  readonly baseUrl: string | undefined
  readonly apiKey: string | undefined
  /** If true, the key may be written to files in plain text. */
  readonly mayKeyBePlain: boolean
  readonly isSandbox: boolean
}

export interface InstallContext {
  readonly machine: Machine
  readonly program: Pick<ProgramStart, 'execPath' | 'script'>
  /** `undefined` without a terminal. */
  readonly questions: Questions | undefined
  readonly print: (line: string) => void
  readonly warn: (line: string) => void
}

/**
 * Runs a command in this process and returns its exit code. Results go to standard output, errors
 * and questions to standard error.
 */
export async function inThisProcess(
  env: Environment,
  run: (context: InstallContext) => Promise<number>,
): Promise<number> {
  const warn = (line: string) => process.stderr.write(`voice-agent-mcp: ${line}\n`)
  try {
    return await run({
      machine: thisMachine(env),
      program: thisStart(),
      questions: process.stdin.isTTY && process.stderr.isTTY ? terminalQuestions() : undefined,
      print: (line) => process.stdout.write(`${line}\n`),
      warn,
    })
  } catch (error) {
    if (error instanceof InterruptedError) {
      process.stderr.write('\n')
      return exitCodes.interrupted
    }
    if (!(error instanceof ConfigError)) throw error
    warn(error.message)
    return error.exitCode
  }
}

/** Adds the server to clients, or lists them. Returns the exit code. Throws ConfigError. */
export async function install(options: InstallOptions, context: InstallContext): Promise<number> {
  if (options.isList) {
    context.print(clientList(findClients(context.machine, options.name), options.wantsJson))
    return exitCodes.done
  }
  const note = options.isSandbox ? sandboxNote : undefined
  return changeClients(options, context, changeFor(options, context), note)
}

const sandboxNote =
  'Without a key the server runs on its built-in sandbox: no real account, nothing is dialled. For your own account run install again with --base-url URL and VOICE_AGENT_API_KEY set. An entry that had an account before keeps it.'

function changeFor(options: InstallOptions, { program, machine }: InstallContext): ChangeFor {
  const { name, flags, baseUrl, apiKey, mayKeyBePlain, isSandbox, isYes, isPrint } = options
  const { args, ...start } = launchCommand({ ...program, ...machine })
  const launch = { ...start, args: [...args, ...flags] }
  return (client) => {
    const place = keyPlace(client, options)
    const isPlain = place === 'plain'
    if (isPlain && apiKey === undefined)
      return `${client.title} would need the key in its file: set ${keyVariable}, and run the command again.`
    const needsConsent = isPlain && !mayKeyBePlain
    if (needsConsent && isYes && !isPrint)
      return `${client.title} has no place for secrets, so the key would be in its file in plain text. Give --key-in-files to allow that.`
    const plainKey = isPlain ? apiKey : undefined
    return {
      name,
      stepsFor: (data) =>
        stepsToAdd(client, data, { name, launch, baseUrl, plainKey, keepsAccount: isSandbox }),
      secrets: plainKey === undefined ? [] : [plainKey, JSON.stringify(plainKey).slice(1, -1)],
      isPrivate: isPlain,
      notes: keyNote(client, place),
      ...(needsConsent && { consent: consentQuestion(client) }),
    }
  }
}

/** Where the server's API key is: in plain text in the file, or where the client keeps secrets. */
type KeyPlace = 'none' | 'plain' | 'referred'

/**
 * Chooses where the API key goes: in the file in plain text if that was requested, or if the client
 * has no secret store and no environment; otherwise where the client keeps secrets.
 */
function keyPlace({ secret }: Client, { baseUrl, mayKeyBePlain }: InstallOptions): KeyPlace {
  if (baseUrl === undefined) return 'none'
  return mayKeyBePlain || secret.kind === 'none' ? 'plain' : 'referred'
}

/** Notes about the place of the key, and the user's next step. */
function keyNote({ title, secret }: Client, place: KeyPlace): string[] {
  if (place === 'none') return []
  if (place === 'plain')
    return ['The file holds the key in plain text, and is made readable to you alone.']
  switch (secret.kind) {
    case 'prompt':
      return [`${title} asks for the key when it first starts the server, and keeps it.`]
    case 'listed':
      return [`The key is not in the file: put ${keyVariable} into ${secret.where}.`]
    default:
      return [`The key is not in the file: set ${keyVariable} in the environment of ${title}.`]
  }
}

const consentQuestion = ({ title }: Client) =>
  `${title} has no place for secrets. Write this with the key in plain text?`

/** Removes the server from clients. Returns the exit code. Throws ConfigError. */
export const uninstall = (options: FileChangeOptions, context: InstallContext): Promise<number> =>
  changeClients(options, context, (client) => ({
    name: options.name,
    stepsFor: (data) => stepsToRemove(client, data, options.name),
    secrets: [],
    isPrivate: false,
    notes: [],
  }))

/** Returns the change of a client's file, or the reason for leaving the file unchanged. */
type ChangeFor = (client: Client) => Change | string

/**
 * Changes the clients' files one after the other. Prints `note` at the end, unless all clients
 * failed. Returns the exit code. Throws ConfigError.
 */
async function changeClients(
  options: FileChangeOptions,
  { machine, questions, print, warn }: InstallContext,
  changeFor: ChangeFor,
  note?: string,
): Promise<number> {
  const chosen = chosenClients(options.clients, machine)
  const { isPrint, isYes, wantsJson } = options
  if (!isPrint && !isYes && (wantsJson || !questions)) {
    warn(
      'Nobody can be asked here. Give --print to see the changes, or --yes to make them without questions.',
    )
    return exitCodes.usage
  }
  const report = textReport(wantsJson ? () => undefined : print)
  const decide = decider(options, report, questions)
  const outcomes: Outcome[] = []
  for (const client of chosen) {
    const outcome = await changeClient(client, machine, changeFor(client), decide, warn)
    report.result(outcome)
    outcomes.push(outcome)
  }
  const notes =
    note !== undefined && outcomes.some(({ status }) => status !== 'failed') ? [note] : []
  if (wantsJson) print(json({ clients: outcomes.map(outcomeJson), notes }))
  else for (const note of notes) print(note)
  return outcomes.some(({ status }) => status === 'failed') ? exitCodes.failed : exitCodes.done
}

function chosenClients(names: readonly string[], machine: Machine): readonly Client[] {
  if (names.length > 0) return namedClients(names)
  const found = clients.filter((client) => isInstalled(client, machine))
  if (found.length > 0) return found
  throw new ConfigError(
    `No client was found on this machine. Name one, and its file is made: ${clients.map(({ id }) => id).join(', ')}.`,
  )
}

function decider(
  { isPrint, isYes }: FileChangeOptions,
  report: Report,
  questions: Questions | undefined,
): Decide {
  return async (planned, consent) => {
    report.change(planned)
    if (isPrint || !questions) return isPrint ? 'show' : 'write'
    if (isYes) return 'write'
    const agreed = await questions.confirm(consent ?? 'Write this?', consent === undefined)
    return agreed ? 'write' : 'decline'
  }
}

/** The clients with these names. Throws CommandLineError for an unknown name. */
export const namedClients = (names: readonly string[]): Client[] => [
  ...new Set(names.map(clientNamed)),
]

/** "VS Code", `vs-code` and `vscode` are one name. */
function clientNamed(name: string): Client {
  const found = clients.find(({ id, title }) => sameWord(name, [id, title]) !== undefined)
  if (found) return found
  const ids = clients.map(({ id }) => id)
  const meant = closestWord(name, ids)
  const hint = meant === undefined ? '' : ` Is ${meant} meant?`
  throw new CommandLineError(
    `There is no client ${JSON.stringify(name.slice(0, 64))}.${hint} There are ${ids.join(', ')}.`,
  )
}

type Report = ReturnType<typeof textReport>

/** Prints progress and results for people. */
function textReport(print: (line: string) => void) {
  const shown = new Set<string>()
  const head = ({ client, file, change }: Outcome) => {
    if (shown.has(client.id)) return
    shown.add(client.id)
    print(`${client.title}: ${safeLine(file)}`)
    for (const line of change) print(`  ${line}`)
  }
  return {
    /** Shows a change before the user decides on it. */
    change: head,
    result(outcome: Outcome) {
      head(outcome)
      print(`  ${resultTexts[outcome.status]}`)
      for (const note of outcome.notes) print(`  ${safeLine(note)}`)
      if (outcome.backup !== undefined) print(`  As it was before: ${safeLine(outcome.backup)}`)
      if (outcome.status === 'written') print(`  ${outcome.client.restart}`)
      print('')
    },
  }
}

const resultTexts = {
  written: 'Written.',
  planned: 'Not written: --print only shows.',
  unchanged: 'Nothing to change.',
  declined: 'Left as it is.',
  failed: 'Not changed.',
} satisfies Record<Outcome['status'], string>

const json = (value: unknown) => JSON.stringify(value, undefined, 2)

/** The outcome as JSON, for other programs. */
const outcomeJson = ({ client, backup, ...outcome }: Outcome) => ({
  client: client.id,
  ...outcome,
  backup: backup ?? null,
})

function clientList(found: readonly FoundClient[], wantsJson: boolean): string {
  if (wantsJson) {
    const rows = found.map(({ client, file, isFound, hasServer, problem }) => ({
      client: client.id,
      title: client.title,
      found: isFound,
      installed: hasServer ?? null,
      file,
      problem: problem ?? null,
    }))
    return json({ clients: rows })
  }
  const width = Math.max(...found.map(({ client }) => client.id.length))
  return found
    .map(({ client, file, isFound, hasServer, problem }) => {
      const state = hasServer ? 'installed' : isFound ? 'found' : 'not found'
      const line = `${client.id.padEnd(width)}  ${state.padEnd(9)}  ${safeLine(file)}`
      return problem === undefined ? line : `${line}\n${' '.repeat(width)}  ${safeLine(problem)}`
    })
    .join('\n')
}
