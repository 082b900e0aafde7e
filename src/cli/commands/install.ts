import { resolve } from 'node:path'
import packageJson from '../../../package.json' with { type: 'json' }
import { toolSummaries } from '../../server/tool-summaries.ts'
import { closestWord } from '../../text/closest-match.ts'
import { exitCodes } from '../config/config-error.ts'
import type { Environment } from '../config/given-settings.ts'
import { installConfig, installSettings } from '../config/install.ts'
import { exposedTools, scopeConfig } from '../config/scope.ts'
import { defineCommand, ending } from './command.ts'

export const install = defineCommand({
  name: 'install',
  about:
    'Add the server to the MCP clients on this machine, or to those that are named. Shows each change before it is written.',
  operands: '[CLIENT…]',
  examples: [
    'install                  ask for each client that is found',
    'install cursor codex     only for these two',
    'install --list           which clients there are',
    'install --print          show the changes, write nothing',
    'install vscode --base-url https://api.your-platform.example',
  ],
  settings: installSettings,
  read(texts, env, origins, operands) {
    const config = installConfig(texts, env, origins, (path) => resolve(path))
    // With the name of a tool that does not exist no server starts, and the client says only that it failed.
    exposedTools(toolSummaries, scopeConfig(texts).exposure)
    return { ...config, clients: operands, env }
  },
  async start({ env, ...config }) {
    const { runInstall } = await import('../install/commands.ts')
    return ending(runInstall(config, programFor(env)))
  },
})

/** What the part that installs is given, instead of loading it. */
export const programFor = (env: Environment) => ({
  env,
  closestWord,
  exitCodes,
  packageId: `${packageJson.name}@${packageJson.version}`,
})
