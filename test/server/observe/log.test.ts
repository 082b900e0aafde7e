import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createLog, type LogOptions } from '../../../src/server/observe/log.ts'
import type { RequestRecord } from '../../../src/server/observe/observer.ts'
import { startProcess } from '../../harness/program.ts'

const record: RequestRecord = {
  time: Date.UTC(2026, 0, 2, 3, 4, 5),
  id: 'abc-1',
  method: 'tools/call',
  tool: 'list_agents',
  outcome: 'ok',
  durationMs: 12.345,
  key: 'hash',
  platform: { requests: 3, retries: 1, status: 200, requestId: 'req-1' },
  traceId: undefined,
}

const failed: RequestRecord = {
  ...record,
  method: 'resources/read',
  tool: undefined,
  outcome: 'protocol_error',
  code: -32602,
  platform: { requests: 0, retries: 0, status: undefined, requestId: undefined },
  traceId: 'trace',
}

function collected(options: LogOptions) {
  const output = {
    text: '',
    writableLength: 0,
    write: (text: string) => {
      output.text += text
    },
  }
  return { output, log: createLog(options, output) }
}

describe('a log', () => {
  test('in text has lines for people', () => {
    const { output, log } = collected({ form: 'text', level: 'info' })
    log.line('Started.')
    log.sink?.requestEnded?.(record)
    log.sink?.requestEnded?.(failed)
    log.sink?.requestRefused?.({ status: 401, durationMs: 1, key: undefined })
    log.sink?.requestRefused?.({ status: 429, durationMs: 1, key: 'hash' })
    expect(output.text).toMatchSnapshot()
  })

  test('in JSON has one object a line, whatever a message holds', () => {
    const { output, log } = collected({ form: 'json', level: 'info' })
    log.line('two\nlines\u2028and \u202e more', 'error')
    log.sink?.requestEnded?.(record)
    log.sink?.requestEnded?.(failed)
    log.sink?.requestRefused?.({ status: 429, durationMs: 1.04, key: 'hash' })
    const lines = output.text.trimEnd().split(/[\n\u2028]/)
    expect(output.text).not.toMatch(/[\u2028\u202e]/)
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        time: expect.stringMatching(/^20\d\d-/),
        level: 'error',
        message: 'two\nlines\u2028and \u202e more',
      },
      {
        time: '2026-01-02T03:04:05.000Z',
        level: 'info',
        event: 'tool_call',
        id: 'abc-1',
        tool: 'list_agents',
        outcome: 'ok',
        duration_ms: 12.3,
        key: 'hash',
        platform: { requests: 3, retries: 1, status: 200, request_id: 'req-1' },
      },
      {
        time: '2026-01-02T03:04:05.000Z',
        level: 'info',
        event: 'request',
        id: 'abc-1',
        method: 'resources/read',
        outcome: 'protocol_error',
        code: -32602,
        duration_ms: 12.3,
        key: 'hash',
        platform: { requests: 0, retries: 0 },
        trace_id: 'trace',
      },
      {
        time: expect.stringMatching(/^20\d\d-/),
        level: 'info',
        event: 'request_refused',
        status: 429,
        duration_ms: 1,
        key: 'hash',
      },
    ])
  })

  test('leaves out the levels below its own', () => {
    const { output, log } = collected({ form: 'text', level: 'warn' })
    for (const level of ['error', 'warn', 'notice', 'info'] as const) log.line(level, level)
    expect(output.text).toBe('voice-agent-mcp: error\nvoice-agent-mcp: warn\n')
    expect(log.sink).toBeUndefined()
  })

  test('that is off writes nothing', () => {
    const { output, log } = collected({ form: 'off', level: 'info' })
    log.line('error', 'error')
    expect(output.text).toBe('')
    expect(log.sink).toBeUndefined()
  })

  test('drops lines that nobody reads, and says how many', () => {
    const { output, log } = collected({ form: 'text', level: 'info' })
    output.writableLength = 2 ** 21
    for (let time = 0; time < 3; time++) log.line('unread')
    expect([output.text, log.dropped()]).toEqual(['', 3])
    output.writableLength = 0
    log.line('read')
    expect(output.text).toMatch(/^voice-agent-mcp: 3 .+\nvoice-agent-mcp: read\n$/)
  })

  test('on standard error that nobody reads neither waits nor takes much memory', async () => {
    const source = join(import.meta.dirname, '../../../src/server/observe/log.ts')
    const script = `
      import { createLog } from ${JSON.stringify(source)}
      const log = createLog({ form: 'json', level: 'info' }, process.stderr)
      for (let time = 0; time < 50_000; time++) log.line('a line that nobody reads '.repeat(4))
      process.stdout.write(JSON.stringify({ dropped: log.dropped(), waiting: process.stderr.writableLength }))
      setTimeout(() => process.exit(0), 100)`
    await using program = startProcess([
      process.execPath,
      '--input-type=module-typescript',
      '-e',
      script,
    ])
    program.process.stderr.pause()
    await expect.poll(() => program.stdout()).toMatch(/}$/)
    const { dropped, waiting } = JSON.parse(program.stdout())
    expect(dropped).toBeGreaterThan(30_000)
    expect(waiting).toBeLessThan(1.1 * 2 ** 20)
  })
})
