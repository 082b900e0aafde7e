import { toolSummaries } from '../../server/tool-summaries.ts'
import { CommandLineError } from '../config/config-error.ts'
import { exitCodes } from '../config/exit-codes.ts'
import { exposedTools, scopeConfig, scopeSettings } from '../config/service-settings.ts'
import { jsonSettings, settingReader } from '../config/setting.ts'
import { defineCommand, ending } from './command.ts'

export const tools = defineCommand({
  name: 'tools',
  about: 'List the tools, or show the arguments of one.',
  operands: '[TOOL]',
  examples: ['tools', 'tools place_call', 'tools --json'],
  settings: { ...scopeSettings, ...jsonSettings },
  read({ texts, env, operands: [tool, further] }) {
    if (further !== undefined) throw new CommandLineError(`Unexpected argument ${further}.`)
    return {
      ...{ tool, env },
      scope: scopeConfig(texts),
      wantsJson: settingReader(jsonSettings, texts)('json'),
    }
  },
  async start({ tool, env, scope, wantsJson }) {
    const [{ showTool, showTools }, { processTerminal }, { tools: all }] = await Promise.all([
      import('../terminal/tool-help.ts'),
      import('../terminal/terminal-io.ts'),
      import('../../../tools/index.ts'),
    ])
    const terminal = processTerminal(env)
    const how = { terminal, wantsJson, account: scope.account }
    const exposed = exposedTools(toolSummaries, scope.exposure)
    const shown =
      tool === undefined
        ? showTools(exposed.tools, how)
        : showTool(tool, exposedTools(all, scope.exposure), how)
    return ending(shown.then(() => exitCodes.done))
  },
})
