import { CommandLineError } from '../config/config-error.ts'
import type { Environment } from '../config/given-settings.ts'
import { commandLine } from '../config/launch-command.ts'
import { serviceConfig, serviceSettings } from '../config/service-settings.ts'
import { logSandbox, openObservability, serviceLog } from '../observability.ts'
import type { CallCommand } from '../terminal/tool-call.ts'
import { defineCommand, ending, type Running } from './command.ts'

interface CallConfig extends CallCommand {
  readonly env: Environment
}

export const call = defineCommand({
  name: 'call',
  about:
    'Call a tool. Options go before the tool, its arguments after it; help call TOOL lists the arguments. Exits with 0 if it is done, 1 if it failed, 2 for wrong arguments, 3 if it was not confirmed or not allowed, 4 if the outcome is not known.',
  operands: 'TOOL [--argument value …]',
  readsRest: true,
  examples: [
    'call list_agents',
    "call get_agent --agent-id 'Support line' --json",
    'call update_agent --agent-id ID --initial-message.message:@greeting.txt --dry-run',
    'call place_call --args @call.json',
    'call --confirm never --dial-policy policy.json place_calls --args -',
  ],
  settings: serviceSettings,
  read({ texts, env, operands: [tool, ...words] }): CallConfig {
    if (tool === undefined)
      throw new CommandLineError(`Name a tool: ${commandLine('tools')} lists them.`)
    return { tool, words, config: serviceConfig(texts, env, { needsKey: true }), env }
  },
  start,
})

async function start({ env, ...command }: CallConfig): Promise<Running> {
  const [{ runCall }, { processTerminal }, { openToolService }] = await Promise.all([
    import('../terminal/tool-call.ts'),
    import('../terminal/terminal-io.ts'),
    import('../../server/tool-service.ts'),
  ])
  const { observer, close } = await openObservability(command.config)
  const interruption = new AbortController()
  let isCalling = false
  const running = ending(
    runCall(command, {
      terminal: processTerminal(env),
      signal: interruption.signal,
      openService() {
        isCalling = true
        logSandbox(command.config)
        return openToolService(command.config, { ...serviceLog, observer })
      },
    }),
  )
  return {
    ...running,
    async close() {
      interruption.abort()
      // Only a running tool call is awaited. Before it, nothing has been sent, and the command may
      // still be reading arguments from standard input.
      if (isCalling) await running.done
      else process.stdin.destroy()
      await close()
    },
  }
}
