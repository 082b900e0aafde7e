import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../docs/documents.ts'

/* A virtual environment with the packages of the Python examples. */

const folder = join(import.meta.dirname, '.python')
const requirements = join(root, 'docs/examples/reminders/requirements.txt')
/** File with the installed requirements, or the reason why they could not be installed. */
const record = join(folder, 'record.json')

const systemPython = process.platform === 'win32' ? 'python' : 'python3'
const newEnough = 'import sys; sys.exit(sys.version_info < (3, 10))'

/** Path of the environment's Python; missing if it could not be created. */
const python = join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')

/** How to run a Python example. `title`: with which SDK; `skip`: why it cannot run, or empty. */
export interface PythonRun {
  readonly title: string
  readonly command: string
  readonly env: Readonly<Record<string, string>>
  readonly skip: string
}

/** Runs examples with the SDK or, if it could not be installed, with a minimal replacement. */
export function pythonRun(): PythonRun {
  const why = whyNoSdk()
  return why === '' ? { title: 'Python', command: python, env: {}, skip: '' } : runWithoutSdk(why)
}

/**
 * Runs examples with a minimal replacement of the SDK, on any Python. `why`: reason for the title.
 */
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

/** Reason why the SDK is not available; empty if it is. */
function whyNoSdk(): string {
  const { installed, why } = recorded()
  return installed === readFileSync(requirements, 'utf8') ? '' : why || 'not installed'
}

function recorded(): { installed: string; why: string } {
  if (!existsSync(record)) return { installed: '', why: '' }
  const { installed = '', why = '' } = JSON.parse(readFileSync(record, 'utf8'))
  return { installed: String(installed), why: String(why) }
}

/**
 * Installs the packages once. If that fails, tests run the examples without the SDK, and report the
 * reason.
 */
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
    // No retries if the package index is unreachable.
    ['-m', 'pip', 'install', '--quiet', '--retries', '0', '-r', requirements],
    { encoding: 'utf8', timeout: 180_000 },
  )
  return status === 0 ? '' : `pip: ${stderr.trim().split('\n').at(-1)}`
}
