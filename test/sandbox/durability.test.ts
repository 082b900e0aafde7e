import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  type Program,
  scratchFolder,
  startPlatformProgram,
  startProgram,
} from '../harness/program.ts'
import { sandboxKeys, startSandbox } from '../harness/sandbox.ts'
import { randomOf } from '../labs/random.ts'
import { beforeEachStatement } from './statement-hook.ts'
import { expectNothingLost, expectSeededOnce } from './stored-data-checks.ts'
import { WriteClient } from './write-client.ts'

async function kill({ process, exited }: Program): Promise<void> {
  process.kill('SIGKILL')
  await exited
}

/** Makes SQLite checkpoint its log every few pages, so that kills hit checkpoints. */
const checkpointsOften = {
  NODE_OPTIONS: beforeEachStatement(
    `if (step === 2) original.call(this, 'PRAGMA wal_autocheckpoint = 20')`,
  ),
}

/** Runs two programs on one file under load, and kills them one after the other. */
async function killUnderLoad(file: string, seed: number): Promise<WriteClient[]> {
  const env = { VOICE_AGENT_SANDBOX_DB: file, ...checkpointsOften }
  const random = randomOf(seed)
  await using first = await startPlatformProgram(env)
  await using second = await startPlatformProgram(env)
  const writers = Array.from(
    { length: 6 },
    (_, index) => new WriteClient(`${seed}-${index}`, seed * 10 + index),
  )
  const writing = writers.map((writer, index) =>
    writer.writeUntilCut((index % 2 ? second : first).url),
  )
  while (writers.some(({ kept }) => kept.size === 0)) await sleep(10)
  await sleep(random() * 400)
  await kill(first)
  await sleep(random() * 200)
  await kill(second)
  await Promise.all(writing)
  return writers
}

describe('killed under load', () => {
  test('a file has every change of two programs once and completely', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'sandbox.db')
    const writers: WriteClient[] = []
    for (const seed of [1, 2, 3]) {
      writers.push(...(await killUnderLoad(file, seed)))
      await expectNothingLost(file, writers)
    }
    expect(writers.flatMap(({ refused }) => refused)).toEqual([])
  })
})

const serve = ['sandbox', '--port', '0']
const servingAt = /sandbox API at (\S+)\/v1/

describe('the first opening', () => {
  test.concurrent.each([
    ['it makes the file a WAL file', 'step === 1'],
    ['its transaction begins', 'step === 2'],
    ['it makes the tables', 'step === 3'],
    ['it writes the version', 'step === 4'],
    ['its first row', 'step === 5'],
    ['its twentieth row', 'step === 24'],
    ['it commits', "args[0] === 'COMMIT'"],
  ])('killed before %s leaves a file that opens whole', async (_, moment) => {
    using folder = scratchFolder()
    const file = join(folder.path, 'sandbox.db')
    await using program = startProgram(serve, {
      VOICE_AGENT_SANDBOX_DB: file,
      NODE_OPTIONS: beforeEachStatement(`if (${moment}) process.kill(process.pid, 'SIGKILL')`),
    })
    await program.exited
    expect(program.process.signalCode).toBe('SIGKILL')
    startSandbox({ file })[Symbol.dispose]()
    expectSeededOnce(file)
  })

  test('waits for another program that is about to write to the same new file', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'sandbox.db')
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    const here = join(folder.path, 'here')
    const env = {
      VOICE_AGENT_SANDBOX_DB: file,
      NODE_OPTIONS: beforeEachStatement(`writeFileSync(${JSON.stringify(here)}, '')`),
    }
    const starting = startPlatformProgram(env)
    while (!existsSync(here)) await sleep(5)
    other.close()
    await using _ = await starting
    expectSeededOnce(file)
  })

  test('by several programs at once fills the file once, and all of them serve', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'sandbox.db')
    // The programs start their first statement at the same time.
    const gather = `
      const here = ${JSON.stringify(folder.path)}
      if (step === 1) {
        writeFileSync(here + '/here-' + process.pid, '')
        const arrived = () => readdirSync(here).filter((name) => name.startsWith('here-')).length
        const latest = Date.now() + 5000
        while (arrived() < 3 && Date.now() < latest);
      }`
    const env = {
      VOICE_AGENT_SANDBOX_DB: file,
      NODE_OPTIONS: beforeEachStatement(gather),
    }
    await using first = startProgram(serve, env)
    await using second = startProgram(serve, env)
    await using third = startProgram(serve, env)
    const serving = [first, second, third].map((program) => program.waitFor(servingAt))
    for (const [, url] of await Promise.all(serving)) {
      const headers = { 'x-api-key': sandboxKeys.main }
      const { status } = await fetch(`${url}/v1/accounts/me/agents`, { headers })
      expect(status).toBe(200)
    }
    expectSeededOnce(file)
  })
})
