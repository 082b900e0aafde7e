import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cleanEnv } from '../../harness/program.ts'
import { type Attack, type Figures, run } from './attack.ts'

const attack = (...args: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, './main.ts'), ...args], {
    encoding: 'utf8',
    env: cleanEnv(),
  })

/** Verdict on a scenario that runs `attacked`. */
const verdictOn = (attacked: (attack: Attack) => Promise<Figures>) =>
  run({ name: 'some', point: 'Something happens.', guarantee: 'Nothing follows.', run: attacked })

test('every scenario has a unique name, and states its guarantee', () => {
  const { status, stdout } = attack('--list', '--json')
  expect(status).toBe(0)
  const listed = JSON.parse(stdout) as Record<string, string>[]
  const names = listed.map(({ name }) => name)
  expect(new Set(names).size).toBe(listed.length)
  for (const { name, point, guarantee } of listed) {
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(point).toMatch(/^[A-Z].*\.$/)
    expect(guarantee).toMatch(/^[A-Z].*\.$/)
  }
})

test('an unknown scenario is refused, and so is an unknown flag', () => {
  expect(attack('no-such-thing')).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^[^\n]*no-such-thing/),
  })
  expect(attack('--no-such-flag').status).toBe(2)
})

// /proc reports memory on Linux only.
test.runIf(process.platform === 'linux')(
  'a broken guarantee is reported with its reason',
  async () => {
    const verdict = await verdictOn(() => Promise.reject(new Error('It fell over')))
    expect(verdict).toMatchObject({ holds: false, broken: 'It fell over' })
  },
)

test.runIf(process.platform === 'linux')(
  'a program that uses more than 512 MB is stopped, and the scenario fails',
  async () => {
    const code = 'globalThis.taken=Array.from({length:6},()=>Buffer.alloc(100_000_000,1))'
    const verdict = await verdictOn(async (attack) => {
      const nodeOptions = ['--import', `data:text/javascript,${encodeURIComponent(code)}`]
      const program = attack.start({ isMemoryScarce: true, nodeOptions })
      await program.exited
      return {}
    })
    expect(verdict).toMatchObject({
      holds: false,
      broken: expect.stringMatching(/\d+ MB/),
    })
    expect(verdict.figures['memory, MB']).toBeGreaterThan(512)
  },
)

test.runIf(process.platform === 'linux')(
  'all programs of a scenario have ended before its verdict',
  async () => {
    let pid = 0
    const { holds } = await verdictOn(async (attack) => {
      const server = await attack.serve({ isMemoryScarce: true })
      pid = server.process.pid ?? 0
      return { pid }
    })
    expect(holds).toBe(true)
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/)
  },
)
