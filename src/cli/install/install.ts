import type { Client } from './clients.ts'
import { type GivenKey, keyChoice, keyNote, missingKeyNote, plainKeyNote } from './key-choice.ts'
import type { LaunchCommand } from './launch-command.ts'
import { type ChangeFor, changeClients, type RunOptions, type Surroundings } from './run.ts'
import { stepsToAdd } from './server-entry.ts'

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
