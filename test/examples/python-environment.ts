import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../docs/documents.ts'

/* The packages of the Python examples, in an environment of their own in this folder. */

const folder = join(import.meta.dirname, '.python')
const requirements = join(root, 'docs/examples/reminders/requirements.txt')
/** What was installed, or why it could not be. */
const record = join(folder, 'record.json')

const systemPython = process.platform === 'win32' ? 'python' : 'python3'
const newEnough = 'import sys; sys.exit(sys.version_info < (3, 10))'

/** Python of the environment, where that could be made. */
const python = join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')

/** How an example in Python is run: `title` says with what, `skip` why it cannot be. */
export interface PythonRun {
  readonly title: string
  readonly command: string
  readonly env: Readonly<Record<string, string>>
  readonly skip: string
}

/** With the SDK, or where that could not be installed, with as much of it as the examples use. */
export function pythonRun(): PythonRun {
  const why = whyNoSdk()
  return why === '' ? { title: 'Python', command: python, env: {}, skip: '' } : runWithoutSdk(why)
}

/** An example in Python without the SDK, because of `why`: any Python runs it. */
export function runWithoutSdk(why: string): PythonRun {
  return {
    title: `Python without its SDK (${why})`,
    command: systemPython,
    env: {
      PYTHONPATH: join(import.meta.dirname, 'without-sdk'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
    skip: spawnSync(systemPython, ['-c', newEnough]).status === 0 ? '' : 'no Python 3.10 or newer',
  }
}

/** Why the SDK cannot be used on this machine; empty when it can. */
function whyNoSdk(): string {
  const { installed, why } = recorded()
  return installed === readFileSync(requirements, 'utf8') ? '' : why || 'not installed'
}

function recorded(): { installed: string; why: string } {
  if (!existsSync(record)) return { installed: '', why: '' }
  const { installed = '', why = '' } = JSON.parse(readFileSync(record, 'utf8'))
  return { installed: String(installed), why: String(why) }
}

/** Installs them once. Where that fails, the tests run the examples without the SDK, and say why. */
export function installPython(): void {
  if (whyNoSdk() === '') return
  mkdirSync(folder, { recursive: true })
  const why = problemOfInstalling()
  const installed = why === '' ? readFileSync(requirements, 'utf8') : ''
  writeFileSync(record, JSON.stringify({ installed, why }))
}

function problemOfInstalling(): string {
  const check = `import venv, ensurepip; ${newEnough}`
  if (spawnSync(systemPython, ['-c', check]).status !== 0) {
    return 'no Python 3.10 or newer with venv'
  }
  execFileSync(systemPython, ['-m', 'venv', folder], { stdio: ['ignore', 2, 2] })
  const { status, stderr } = spawnSync(
    python,
    // A package index that cannot be reached is asked once.
    ['-m', 'pip', 'install', '--quiet', '--retries', '0', '-r', requirements],
    { encoding: 'utf8', timeout: 180_000 },
  )
  return status === 0 ? '' : `pip: ${stderr.trim().split('\n').at(-1)}`
}
