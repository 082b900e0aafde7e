import { fileChangeConfig, uninstallSettings } from '../config/install.ts'
import { defineCommand, ending } from './command.ts'
import { programFor } from './install.ts'

export const uninstall = defineCommand({
  name: 'uninstall',
  about: 'Take the server out of the MCP clients on this machine, or of those that are named.',
  operands: '[CLIENT…]',
  examples: ['uninstall', 'uninstall cursor --yes'],
  settings: uninstallSettings,
  read: (texts, env, _, operands) => ({ ...fileChangeConfig(texts), clients: operands, env }),
  async start({ env, ...options }) {
    const { runUninstall } = await import('../install/commands.ts')
    return ending(runUninstall(options, programFor(env)))
  },
})
