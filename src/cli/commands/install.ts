import { resolve } from 'node:path'
import packageJson from '../../../package.json' with { type: 'json' }
import { installConfig, installSettings } from '../../config/install.ts'
import type { Environment } from '../../config/setting-texts.ts'
import { closestWord } from '../../text/closest-match.ts'
import { defineCommand, type Running } from './command.ts'

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
  read: (texts, env, origins, operands) => ({
    ...installConfig(texts, env, origins, (path) => resolve(path)),
    clients: operands,
    env,
  }),
  async start({ env, ...config }) {
    const { runInstall } = await import('../install/commands.ts')
    return ending(runInstall(config, programFor(env)))
  },
})

/** What the part that installs is given, instead of loading it. */
export const programFor = (env: Environment) => ({
  env,
  closestWord,
  packageId: `${packageJson.name}@${packageJson.version}`,
})

/**
 * A command that ends by itself, with an exit code. A signal ends it before that, between two files:
 * then the exit code is that of a command that Ctrl+C has ended.
 */
export function ending(code: Promise<number>): Running {
  let exitCode = 130
  const done = code.then((value) => {
    exitCode = value
  })
  return { done, exitCode: () => exitCode, close: async () => undefined }
}
