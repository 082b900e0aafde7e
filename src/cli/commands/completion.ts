import { CommandLineError } from '../config/config-error.ts'
import { exitCodes } from '../config/exit-codes.ts'
import { defineCommand, ending } from './command.ts'

export const completion = defineCommand({
  name: 'completion',
  about: 'Print the script that completes command lines in bash, zsh or fish.',
  operands: 'bash|zsh|fish',
  readsRest: true,
  examples: [
    'completion bash >> ~/.bashrc',
    'completion zsh > ~/.zfunc/_voice-agent-mcp',
    'completion fish > ~/.config/fish/completions/voice-agent-mcp.fish',
  ],
  settings: {},
  read: ({ commands, env, operands: [what = '', ...words] }) => ({ commands, env, what, words }),
  async start({ commands, env, what, words }) {
    const [{ complete, completionScripts, shells }, { processTerminal }] = await Promise.all([
      import('../terminal/completion.ts'),
      import('../terminal/terminal-io.ts'),
    ])
    const terminal = processTerminal(env)
    const done = () => exitCodes.done
    // The completion scripts of the shells run this.
    if (what === 'candidates') {
      const clients = await clientsFor(words)
      return ending(complete(words, { commands, clients }, terminal).then(done))
    }
    const shell = shells.find((one) => one === what)
    if (shell === undefined || words.length > 0)
      throw new CommandLineError(`Name one shell: ${shells.join(', ')}.`)
    return ending(terminal.print(completionScripts[shell]).then(done))
  },
})

/** Loads the list of clients only for commands that take client names. */
async function clientsFor(words: readonly string[]) {
  if (!words.includes('install') && !words.includes('uninstall')) return []
  const { clients } = await import('../install/clients.ts')
  return clients.map(({ id, title }) => ({ word: id, about: title }))
}
