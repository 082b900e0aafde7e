import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'
import { startHttpProgram } from '../../harness/program.ts'

async function readyzOf(url: string, query = '') {
  const response = await fetch(new URL(`/readyz${query}`, url))
  return { status: response.status, body: await response.json() }
}

describe('/readyz', () => {
  test('says ready while the platform answers, whatever it answers', async () => {
    await using platform = await startFakePlatform((_, res) => json(res, 503, {}))
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    expect(await readyzOf(program.url)).toEqual({
      status: 200,
      body: { status: 'ready', platform: 'ok', state: 'ok' },
    })
  })

  test('says which part is missing, and that it is back', async () => {
    const platform = await startFakePlatform((_, res) => json(res, 401, {}))
    const state = await mkdtemp(join(tmpdir(), 'probes-'))
    const notAFolder = join(state, 'file')
    writeFileSync(notAFolder, '')
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_STATE_DIR: join(notAFolder, 'state'),
    })
    await platform[Symbol.asyncDispose]()
    expect(await readyzOf(program.url)).toEqual({
      status: 503,
      body: { status: 'not ready', platform: 'unreachable', state: 'unreachable' },
    })
    expect((await fetch(new URL('/healthz', program.url))).status).toBe(200)
    rmSync(notAFolder)
    await expect
      .poll(async () => (await readyzOf(program.url)).body)
      .toEqual({ status: 'not ready', platform: 'unreachable', state: 'ok' })
    rmSync(state, { recursive: true })
  })

  test('does not need the state where that is optional, and still tells it', async () => {
    await using platform = await startFakePlatform((_, res) => json(res, 401, {}))
    const folder = await mkdtemp(join(tmpdir(), 'probes-'))
    const notAFolder = join(folder, 'file')
    writeFileSync(notAFolder, '')
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_STATE_DIR: join(notAFolder, 'state'),
    })
    expect((await readyzOf(program.url)).status).toBe(503)
    expect((await readyzOf(program.url, '?state=other')).status).toBe(503)
    expect(await readyzOf(program.url, '?state=optional')).toEqual({
      status: 200,
      body: { status: 'ready', platform: 'ok', state: 'unreachable' },
    })
    await platform[Symbol.asyncDispose]()
    await expect.poll(async () => (await readyzOf(program.url, '?state=optional')).status).toBe(503)
    rmSync(folder, { recursive: true })
  })

  test('asks the platform once for many probes', async () => {
    let asked = 0
    await using platform = await startFakePlatform((_, res) => {
      asked++
      json(res, 401, {})
    })
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    const before = asked
    await Promise.all(Array.from({ length: 50 }, () => readyzOf(program.url)))
    expect(asked - before).toBe(1)
  })

  test('answers only GET and HEAD', async () => {
    await using program = await startHttpProgram()
    const posted = await fetch(new URL('/readyz', program.url), { method: 'POST' })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})
