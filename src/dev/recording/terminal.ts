import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'
import type { Typed } from './scenes.ts'

/** Columns of the terminal. */
export const columns = 100

/** Whether `script` of util-linux is there, which gives a command a terminal. */
export const hasTerminal = (): boolean => spawnSync('script', ['--version']).status === 0

/** Runs a command in a terminal, and gives the lines that it leaves on the screen. */
export async function runInTerminal(
  command: string,
  { cwd, env, typed }: { cwd: string; env: NodeJS.ProcessEnv; typed: readonly Typed[] },
): Promise<string[]> {
  const given = [
    '--quiet',
    '--return',
    '--command',
    `stty cols ${columns}; ${command}`,
    '/dev/null',
  ]
  const child = spawn('script', given, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
  let output = ''
  const left = [...typed]
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
    const next = left[0]
    if (!next?.after.test(stripVTControlCharacters(output).replaceAll('\r\n', '\n'))) return
    left.shift()
    child.stdin.write(next.text)
  })
  await once(child, 'close')
  if (left.length > 0) throw new Error(`${command} did not show ${left[0]?.after}:\n${output}`)
  return screenLines(output)
}

/** A line that is written over counts as it was last; empty lines at the ends are left out. */
const screenLines = (output: string): string[] =>
  output
    .replaceAll(/\r+\n/g, '\n')
    .split('\n')
    // \x1b[K clears the line for what is written over it.
    .map((line) => stripVTControlCharacters(line.split('\x1b[K').at(-1) ?? '').trimEnd())
    .join('\n')
    .replaceAll(/^\n+|\n+$/g, '')
    .split('\n')
