import { safeJson } from '../../text/safe-text.ts'
import type { RefusedRequest, RequestRecord, Sink } from './observer.ts'

/*
 * The log: one line per event, as text or JSON. Lines that nobody reads are dropped beyond a bound.
 */

/**
 * From least to most verbose. `info` adds one line per request. `debug` adds error messages, which
 * may contain client text.
 */
export const logLevels = ['error', 'warn', 'notice', 'info', 'debug'] as const
export type LogLevel = (typeof logLevels)[number]

export const logForms = ['text', 'json', 'off'] as const

export interface LogOptions {
  readonly form: (typeof logForms)[number]
  /** The most verbose level that is logged. */
  readonly level: LogLevel
}

export interface LogOutput {
  write(text: string): unknown
  /** Bytes that are buffered for the reader. */
  readonly writableLength: number
}

/** Maximum bytes that wait for the log's reader. Further lines are dropped, to bound memory. */
const maxUnread = 1024 * 1024

/**
 * The log of the process. Logging never waits and never throws: without a reader, lines are
 * dropped, and the next line reports how many.
 */
export interface Log {
  /** Writes a line about the program itself. */
  line(message: string, level?: LogLevel): void
  /** Writes a line for each request; `undefined` if requests are not logged. */
  readonly sink: Sink | undefined
  /** Lines dropped since the start. */
  readonly dropped: () => number
}

export function createLog({ form, level }: LogOptions, output: LogOutput): Log {
  const isWritten = (of: LogLevel) =>
    form !== 'off' && logLevels.indexOf(of) <= logLevels.indexOf(level)
  const lineOf = (of: LogLevel, text: string, facts: object, time = Date.now()) =>
    form === 'json' ? jsonLine(of, facts, time) : `voice-agent-mcp: ${text}\n`
  let dropped = 0
  let notReported = 0
  const write: Write = (...line) => {
    if (output.writableLength > maxUnread) {
      notReported++
      dropped++
      return
    }
    if (notReported > 0) {
      const message = `${notReported} log lines were dropped: nobody read them.`
      output.write(lineOf('warn', message, { message }))
    }
    notReported = 0
    output.write(lineOf(...line))
  }
  return {
    line(message, of = 'notice') {
      if (isWritten(of)) write(of, message, { message })
    },
    sink: isWritten('info') ? requestSink(write) : undefined,
    dropped: () => dropped,
  }
}

type Write = (level: LogLevel, text: string, facts: object, time?: number) => void

const requestSink = (write: Write): Sink => ({
  requestEnded(record) {
    write('info', requestText(record), requestFacts(record), record.time)
  },
  requestRefused({ status, durationMs, key }: RefusedRequest) {
    const shown = key === undefined ? '' : `, key ${key}`
    const facts = { event: 'request_refused', status, duration_ms: tenths(durationMs), key }
    write('info', `HTTP request refused: ${status}${shown}`, facts)
  },
})

const jsonLine = (level: LogLevel, facts: object, time: number) =>
  `${safeJson(JSON.stringify({ time: new Date(time).toISOString(), level, ...facts }))}\n`

function requestFacts(record: RequestRecord) {
  const { id, method, tool, outcome, code, durationMs, key, platform, traceId } = record
  return {
    ...(tool === undefined ? { event: 'request', id, method } : { event: 'tool_call', id, tool }),
    outcome,
    code,
    duration_ms: tenths(durationMs),
    key,
    platform: {
      requests: platform.requests,
      retries: platform.retries,
      status: platform.status,
      request_id: platform.requestId,
    },
    trace_id: traceId,
  }
}

function requestText(record: RequestRecord): string {
  const { id, method, tool, outcome, code, durationMs, key, platform, traceId } = record
  const { status, requestId, retries } = platform
  const parts = [
    `${tool ?? method} ${outcome}${code === undefined ? '' : ` (${code})`}, ${tenths(durationMs)} ms`,
    status !== undefined && `platform ${status}${requestId === undefined ? '' : ` (${requestId})`}`,
    retries > 0 && `retries: ${retries}`,
    key !== undefined && `key ${key}`,
    tool === undefined ? `request ${id}` : `call ${id}`,
    traceId !== undefined && `trace ${traceId}`,
  ]
  return parts.filter((part) => part !== false).join(', ')
}

const tenths = (ms: number) => Math.round(ms * 10) / 10
