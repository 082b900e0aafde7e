import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { parseDialPolicy } from '../../src/policy/dial-policy-config.ts'
import { root } from '../docs/documents.ts'
import { cleanEnv, scratchFolder, startPlatformProgram } from '../harness/program.ts'
import { externalIds } from './external-ids.ts'
import { pythonRun, runWithoutSdk } from './python-environment.ts'

const example = join(root, 'docs/examples/reminders')

interface Run {
  readonly title: string
  readonly command: string
  readonly env: Readonly<Record<string, string>>
  readonly file: string
  readonly skip: string
}

const runs: Run[] = [
  { title: 'TypeScript', command: process.execPath, env: {}, file: 'remind.ts', skip: '' },
  { ...pythonRun(), file: 'remind.py' },
]

const Outcomes = z.record(
  z.string(),
  z.strictObject({ state: z.string(), attempt: z.int(), note: z.string() }),
)
/** A folder with the workflow, and a sandbox as its platform. `faults`: faults of the sandbox. */
async function workplace(
  { command, env, file }: Run,
  { faults, speed = 100 }: { faults?: object; speed?: number } = {},
) {
  const folder = scratchFolder()
  cpSync(example, folder.path, { recursive: true })
  const faultsFile = join(folder.path, 'faults.json')
  if (faults) writeFileSync(faultsFile, JSON.stringify(faults))
  const platform = await startPlatformProgram({
    VOICE_AGENT_SANDBOX_SPEED: String(speed),
    ...(faults && { VOICE_AGENT_SANDBOX_FAULTS: faultsFile }),
  })
  const start = () => {
    const child = spawn(command, [join(example, file), folder.path], {
      env: cleanEnv({
        ...env,
        VOICE_AGENT_BASE_URL: platform.url,
        VOICE_AGENT_API_KEY: 'sandbox-key',
        VOICE_AGENT_STATE_DIR: join(folder.path, 'state'),
        VOICE_AGENT_CALL_FIND_OUT: '0.5',
        // Enough time for a busy machine.
        VOICE_AGENT_HEADERS_TIMEOUT: '30',
      }),
      // A process group, to end the workflow together with its server.
      detached: true,
    })
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    child.stderr.on('data', (chunk) => {
      output += chunk
    })
    const ended = once(child, 'close').then(([status]) => ({ status, output }))
    return { ended, kill: () => child.pid && process.kill(-child.pid, 'SIGKILL') }
  }
  return {
    start,
    run: () => start().ended,
    write: (file: string, value: unknown) =>
      writeFileSync(join(folder.path, file), JSON.stringify(value)),
    outcomes: () => {
      const file = join(folder.path, 'outcomes.json')
      return existsSync(file) ? Outcomes.parse(JSON.parse(readFileSync(file, 'utf8'))) : {}
    },
    /** External ids of the workflow's calls on the platform. */
    placed: () => externalIds(platform.url, 'reminder-'),
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

const emma = { id: '1', first_name: 'Emma', phone: '+12025550100' }

test('the dial policy of the example can be used', () => {
  const policy = parseDialPolicy(readFileSync(join(example, 'dial-policy.json'), 'utf8'), 'example')
  expect(policy).toMatchObject({ allow_countries: ['US'], max_at_once: 1 })
})

describe.each(runs)('the workflow in $title $skip', { timeout: 60_000 }, (run) => {
  test.skipIf(run.skip)('acts on how each call ended, run by run', async () => {
    await using work = await workplace(run)
    const first = await work.run()
    expect(first, first.output).toMatchObject({ status: 0 })
    expect(work.outcomes()).toEqual({
      2041: { state: 'reached', attempt: 1, note: 'completed, human' },
      2042: { state: 'open', attempt: 2, note: 'completed, machine' },
      2043: { state: 'open', attempt: 2, note: 'failed, user_busy' },
    })
    expect((await work.run()).status).toBe(0)
    const third = await work.run()
    expect(third).toMatchObject({ status: 1 })
    expect(third.output).toContain('2042 Liam: needs a person (completed, machine)')
    // At most three attempts for each person; Emma is called once.
    expect((await work.run()).status).toBe(1)
    expect(await work.placed()).toEqual(
      ['2041-1', '2042-1', '2042-2', '2042-3', '2043-1', '2043-2', '2043-3'].map(
        (id) => `reminder-${id}`,
      ),
    )
  })

  test.skipIf(run.skip)('killed after it has placed a call, finds it in the next run', async () => {
    await using work = await workplace(run, { speed: 5 })
    work.write('appointments.json', [emma])
    const killed = work.start()
    await expect.poll(work.placed, { timeout: 30_000 }).toEqual(['reminder-1-1'])
    killed.kill()
    await killed.ended
    expect(work.outcomes()).toEqual({})
    expect((await work.run()).status).toBe(0)
    expect(work.outcomes()).toMatchObject({ 1: { state: 'reached', attempt: 1 } })
    expect(await work.placed()).toEqual(['reminder-1-1'])
  })

  test.skipIf(run.skip)('calls once when the answer of the platform is lost', async () => {
    const lost = { route: 'calls.place', times: 1, reply: { kind: 'drop', when: 'after' } }
    await using work = await workplace(run, { faults: { rules: [lost] } })
    work.write('appointments.json', [emma])
    const { status, output } = await work.run()
    expect(status, output).toBe(0)
    expect(work.outcomes()).toMatchObject({ 1: { state: 'reached', attempt: 1 } })
    expect(await work.placed()).toEqual(['reminder-1-1'])
  })

  test.skipIf(run.skip)(
    'makes the same try again when it is not known what became of it',
    async () => {
      // The reply is lost, and for a while the search for the call gets no reply either.
      const rules = [
        { route: 'calls.place', times: 1, reply: { kind: 'drop', when: 'after' } },
        { route: 'calls.list', times: 1, delay_ms: 3000 },
      ]
      await using work = await workplace(run, { faults: { rules } })
      work.write('appointments.json', [emma])
      expect((await work.run()).status).toBe(0)
      expect(work.outcomes()).toMatchObject({ 1: { state: 'open', attempt: 1 } })
      expect((await work.run()).status).toBe(0)
      expect(work.outcomes()).toMatchObject({ 1: { state: 'reached', attempt: 1 } })
      expect(await work.placed()).toEqual(['reminder-1-1'])
    },
  )

  test.skipIf(run.skip)(
    'waits for what passes, and asks a person about what does not',
    async () => {
      await using work = await workplace(run)
      const invalid = { ...emma, id: '3', phone: '+12025550107' }
      work.write('appointments.json', [emma, { ...emma, id: '2', phone: '+493023125402' }, invalid])
      const now = new Date().getUTCHours()
      const at = (hour: number) => `${String((hour + 24) % 24).padStart(2, '0')}:00`
      const quiet = { from: at(now - 1), to: at(now + 2) }
      const policy = { allow_countries: ['US'], zones: { '+1202': 'Etc/UTC' } }
      work.write('dial-policy.json', { ...policy, quiet_hours: quiet })
      expect((await work.run()).status).toBe(1)
      expect(work.outcomes()).toEqual({
        1: {
          state: 'open',
          attempt: 1,
          note: expect.stringMatching(/\bquiet_hours\b.*\b\d+ s\b/s),
        },
        2: {
          state: 'needs a person',
          attempt: 1,
          note: expect.stringContaining('in Germany is not'),
        },
        3: { state: 'open', attempt: 1, note: expect.stringContaining('quiet hours') },
      })
      expect(await work.placed()).toEqual([])
      work.write('dial-policy.json', policy)
      await work.run()
      expect(work.outcomes()).toMatchObject({ 1: { state: 'reached', attempt: 1 } })
      expect(await work.placed()).toEqual(['reminder-1-1'])
    },
  )
})

// Machines without the SDK run the tests above with the stand-in, so machines with the SDK test it,
// too.
const withoutSdk = { ...runWithoutSdk('as a test'), file: 'remind.py' }
test.skipIf(withoutSdk.skip)(
  'the workflow in Python needs no more of the SDK than its stand-in has',
  { timeout: 60_000 },
  async () => {
    await using work = await workplace(withoutSdk)
    work.write('appointments.json', [emma, { ...emma, id: '2', phone: '+493023125402' }])
    const { status, output } = await work.run()
    expect(status, output).toBe(1)
    expect(work.outcomes()).toMatchObject({
      1: { state: 'reached', attempt: 1 },
      2: { state: 'needs a person', note: expect.stringContaining('in Germany is not') },
    })
    expect(await work.placed()).toEqual(['reminder-1-1'])
  },
)
