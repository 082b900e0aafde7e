import { safeLine } from '../../text/safe-text.ts'
import { CommandLineError, ConfigError } from '../config/config-error.ts'
import { exitCodes } from '../config/exit-codes.ts'
import { commandLine, quotedForShell } from '../config/launch-command.ts'
import { settingReader, text } from '../config/setting.ts'
import {
  isInMemory,
  type StateLocation,
  stateLocation,
  stateLocationSettings,
} from '../config/state.ts'
import { defineCommand, ending } from './command.ts'

// Not imported, like parseArgs in config/command-line.ts: an import would load all exports.
const { userInfo } = process.getBuiltinModule('node:os')

const callsActions = ['stop', 'resume', 'status'] as const

interface CallsCommandConfig {
  readonly action: (typeof callsActions)[number]
  readonly state: StateLocation
  readonly reason: string | undefined
  readonly by: string | undefined
  /** Command line that allows calls again. */
  readonly resume: string
}

/**
 * Maximum length of a reason or a name, characters. The error of every refused call contains both.
 */
const maxStopText = 200

const callStopSettings = {
  reason: text({
    value: 'TEXT',
    help: 'Why calls are stopped. Each refusal says so.',
    maxLength: maxStopText,
  }),
  by: text({
    value: 'NAME',
    help: 'Who stops calls. Each refusal says so.',
    range: 'Default: the name of the user who runs the command.',
    maxLength: maxStopText,
  }),
}

export const calls = defineCommand({
  name: 'calls',
  about: 'Stop all new phone calls, or allow them again, on all servers that share a state.',
  operands: callsActions.join('|'),
  examples: [
    "calls stop --reason 'wrong list'",
    'calls status',
    'calls resume --state-dir /var/lib/voice-agent-mcp',
  ],
  settings: {
    ...callStopSettings,
    ...stateLocationSettings,
  },
  read({ texts, origins, operands: [given, further] }): CallsCommandConfig {
    const action = callsActions.find((one) => one === given)
    if (action === undefined || further !== undefined)
      throw new CommandLineError(`Name one of: calls ${callsActions.join(', calls ')}.`)
    const state = stateLocation(texts)
    if (isInMemory(state))
      throw new ConfigError(
        'A state in :memory: belongs to one server process, which commands cannot reach: end that process. With a --state-dir or a --state-url calls can be stopped.',
      )
    const value = settingReader(callStopSettings, texts)
    const flags = ['state-dir', 'config'].flatMap((name) =>
      origins[name] === 'flag' ? [`--${name}`, quotedForShell(texts[name] ?? '')] : [],
    )
    return {
      ...{ action, state, reason: value('reason'), by: value('by') },
      resume: commandLine(['calls resume', ...flags].join(' ')),
    }
  },
  start: async (config) => ending(run(config)),
})

async function run({ action, state, reason, by = userName(), resume }: CallsCommandConfig) {
  const [{ callStopText }, { inspectCallStop, setCallStop }] = await Promise.all([
    import('../../state/call-stop.ts'),
    import('../../server/state.ts'),
  ])
  const where = state.databaseUrl === undefined ? state.dir : 'the database of --state-url'
  if (action === 'stop') {
    const at = new Date().toISOString()
    await setCallStop(state, { by: safeLine(by), at, reason: reason && safeLine(reason) })
  }
  if (action === 'resume') await setCallStop(state, undefined)
  const stop = (await inspectCallStop(state, false)) ?? (await inspectCallStop(state, true))
  print(
    stop
      ? `${callStopText(stop)} This holds for every server with the state in ${where}, until: ${resume}`
      : `Calls are not stopped on the servers with the state in ${where}.`,
  )
  if (stop) print(goesOn)
  return exitCodes.done
}

const goesOn =
  'Calls under way go on, and one that was being sent at that moment may still ring: the API of the platform cannot hang up.'

const print = (line: string) => process.stdout.write(`${line}\n`)

/** The user's name. A container may run with a user id that has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? '?'}`
  }
}
