import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { type Program, quietly, scratchFolder, startProgram } from '../harness/program.ts'

/** A span in the form of in-memory.mjs. */
const Span = z.object({
  name: z.string(),
  /** 1: server, 2: client. */
  kind: z.number(),
  traceId: z.string(),
  spanId: z.string(),
  parentId: z.string().optional(),
  attributes: z.record(z.string(), z.unknown()),
  /** `code` 2: error. */
  status: z.object({ code: z.number(), message: z.string().optional() }),
  links: z.array(z.string()),
})
export type Span = z.output<typeof Span>

export interface TracedProgram extends Program {
  /** The recorded spans. Available after the program has ended. */
  spans(): Span[]
}

/** Environment that disables metrics, logs and export to a collector. */
export const onlyTraces = { OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' }

/** Starts the program with the OpenTelemetry SDK preloaded. */
export function startTraced(args: string[], env: Record<string, string> = {}): TracedProgram {
  const folder = scratchFolder()
  const file = join(folder.path, 'spans.json')
  const program = startProgram(
    args,
    {
      ...quietly,
      ...onlyTraces,
      VOICE_AGENT_SANDBOX_DB: ':memory:',
      VOICE_AGENT_LOG: 'json',
      SPANS_FILE: file,
      ...env,
    },
    ['--import', join(import.meta.dirname, 'in-memory.mjs')],
  )
  return {
    ...program,
    spans: () =>
      z.array(Span).parse(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []),
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

/** Starts the program over HTTP with the SDK preloaded. */
export async function startTracedHttp(env: Record<string, string> = {}) {
  const program = startTraced(['http', '--port', '0'], env)
  const [, url = ''] = await program.waitFor(/Serving MCP at ([^\s"]+)/)
  return { ...program, url }
}

/** Stops a program with SIGTERM and returns its spans. */
export async function spansAtTheEnd(program: TracedProgram): Promise<Span[]> {
  program.process.kill('SIGTERM')
  if ((await program.exited) !== 0) throw new Error(program.stderr())
  return program.spans()
}
