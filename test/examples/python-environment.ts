import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../docs/documents.ts'

/* The packages of the Python examples, in an environment of their own in this folder. */

const folder = join(import.meta.dirname, '.python')
const requirements = join(root, 'docs/examples/reminders/requirements.txt')
/** What was installed, or why it could not be. */
const record = join(folder, 'record.json')

/** Python of the environment; `undefined` where it could not be made, see `whyNoPython`. */
export const python = join(
  folder,
  process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python',
)

/** Why the Python examples cannot be run on this machine; empty when they can. */
export function whyNoPython(): string {
  const { installed, why } = recorded()
  return installed === readFileSync(requirements, 'utf8') ? '' : why || 'not installed'
}

function recorded(): { installed: string; why: string } {
  if (!existsSync(record)) return { installed: '', why: '' }
  const { installed = '', why = '' } = JSON.parse(readFileSync(record, 'utf8'))
  return { installed: String(installed), why: String(why) }
}

/** Installs them once. Where that fails, the tests with Python are skipped and say why. */
export function installPython(): void {
  if (whyNoPython() === '') return
  mkdirSync(folder, { recursive: true })
  const why = problemOfInstalling()
  const installed = why === '' ? readFileSync(requirements, 'utf8') : ''
  writeFileSync(record, JSON.stringify({ installed, why }))
}

function problemOfInstalling(): string {
  const command = process.platform === 'win32' ? 'python' : 'python3'
  const check = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))'
  if (spawnSync(command, ['-c', check]).status !== 0) return 'no Python 3.10 or newer with venv'
  execFileSync(command, ['-m', 'venv', folder], { stdio: ['ignore', 2, 2] })
  const { status, stderr } = spawnSync(
    python,
    // A package index that cannot be reached is asked once.
    ['-m', 'pip', 'install', '--quiet', '--retries', '0', '-r', requirements],
    { encoding: 'utf8', timeout: 180_000 },
  )
  return status === 0 ? '' : `pip: ${stderr.trim().split('\n').at(-1)}`
}
