import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { completionScripts, shells } from '../../../../src/cli/terminal/completion.ts'
import { bin, cleanEnv, scratchFolder } from '../../../harness/program.ts'

const folder = scratchFolder()
afterAll(() => folder[Symbol.dispose]())
writeFileSync(
  join(folder.path, 'voice-agent-mcp'),
  `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`,
  { mode: 0o755 },
)
for (const shell of shells) writeFileSync(join(folder.path, shell), completionScripts[shell])

const env = cleanEnv({ PATH: `${folder.path}:${process.env.PATH}`, HOME: folder.path })
const isHere = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0
const printed = (shell: string, script: string) =>
  execFileSync(shell, ['-c', script], { env, encoding: 'utf8', cwd: folder.path })
    .trim()
    .split('\n')

/** Completions that a shell offers after the program's name. The last word is incomplete. */
const offers: Readonly<Record<(typeof shells)[number], (words: string[]) => string[]>> = {
  bash: (words) =>
    printed(
      'bash',
      `source ./bash
      COMP_WORDS=(voice-agent-mcp ${words.map((word) => `'${word}'`).join(' ')})
      COMP_CWORD=${words.length}
      _voice_agent_mcp voice-agent-mcp
      printf '%s\\n' "\${COMPREPLY[@]}"`,
    ),
  // zsh completes only in its line editor, so this prints what the script passes to the editor.
  zsh: (words) =>
    printed(
      'zsh',
      `compdef() { }
      _describe() { print -l -- "\${(@P)3}" }
      _files() { print files }
      source ./zsh
      words=(voice-agent-mcp ${words.map((word) => `'${word}'`).join(' ')})
      CURRENT=${words.length + 1}
      _voice_agent_mcp`,
    ).map((line) => line.replace(/(?<!\\):.*/, '')),
  fish: (words) =>
    printed('fish', `source ./fish; complete -C 'voice-agent-mcp ${words.join(' ')}'`).map(
      (line) => line.split('\t')[0] ?? '',
    ),
}

describe.each(shells.filter(isHere))('%s completes', (shell) => {
  test('commands, tools, arguments and their values', () => {
    const of = offers[shell]
    expect(of(['ca'])).toEqual(['call', 'calls'])
    expect(of(['call', '--read-only', 'wait'])).toEqual(['wait_for_call'])
    expect(of(['call', 'create_agent', '--voice.p'])).toEqual(['--voice.provider'])
    expect(of(['call', 'place_call', '--type', ''])).toEqual(['phone', 'web'])
  })

  test('clients, shells and commands where these are named', () => {
    const of = offers[shell]
    expect(of(['install', 'cur'])).toEqual(['cursor'])
    expect(of(['completion', 'z'])).toEqual(['zsh'])
    expect(of(['comp'])).toEqual(['completion'])
    expect(of(['help', 'doc'])).toEqual(['doctor'])
  })

  test('files where there is nothing else', () => {
    const found = offers[shell](['call', '--config', 'fi'])
    // Bash completes files by itself if the script offers nothing.
    expect(found).toEqual({ bash: [''], zsh: ['files'], fish: ['fish'] }[shell])
  })
})

test('bash is always tested, and there is a script for each shell', () => {
  expect(isHere('bash')).toBe(true)
  const run = (...words: string[]) =>
    spawnSync(join(folder.path, 'voice-agent-mcp'), words, { env, encoding: 'utf8' })
  for (const shell of shells)
    expect(run('completion', shell).stdout).toBe(`${completionScripts[shell]}\n`)
  expect(run('completion', 'tcsh')).toMatchObject({ status: 2, stdout: '' })
  expect(run('completion').status).toBe(2)
})
