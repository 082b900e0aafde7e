import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Result of a template in real Jinja2. */
export type Verdict = {
  readonly valid: boolean
  readonly error?: { readonly type: string; readonly message: string; readonly line: number | null }
  readonly paths?: readonly (readonly [path: string, line: number])[]
  readonly output?: string
  readonly failure?: string
}

export type Question = { readonly source: string; readonly context: object | null }

const script = fileURLToPath(new URL('oracle.py', import.meta.url))

/** Path of a Python with Jinja2; null if there is none. */
export function findPython(): string | null {
  const candidates = ['/usr/bin/python3', 'python3']
  const works = (python: string) => spawnSync(python, ['-c', 'import jinja2']).status === 0
  return candidates.find(works) ?? null
}

/** Runs many templates in one Python process. */
export function ask(python: string, questions: readonly Question[]): Verdict[] {
  const input = questions.map((question) => JSON.stringify(question)).join('\n')
  const { status, stdout, stderr } = spawnSync(python, ['-W', 'ignore', script], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  if (status !== 0) throw new Error(`the oracle failed: ${stderr}`)
  return stdout
    .trim()
    .split('\n')
    .map((line): Verdict => JSON.parse(line))
}
