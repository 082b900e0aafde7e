import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { type Program, startHttpProgram } from './program.ts'

/** Several servers behind a load balancer. */
export interface Replicas extends AsyncDisposable {
  /** Address of the balancer: requests go round-robin to the servers that are up. */
  readonly url: string
  /** Addresses of the servers that are up. */
  readonly urls: readonly string[]
  /** Number of requests forwarded to each server. */
  readonly served: readonly number[]
  readonly kills: number
  /**
   * Kills a random server and restarts it, again and again until the signal fires: each time after
   * a random number of answers of all servers, `every` on average, and up to a second more.
   */
  killRepeatedly(every: number, random: () => number, signal: AbortSignal): Promise<void>
  /** Stops a server with a signal and restarts it. Returns its exit code; `null`: it was killed. */
  restart(which: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
  /** The process id of a server that is up. */
  pidOf(which: number): number | undefined
}

export interface ReplicaOptions {
  readonly nodeOptions?: readonly string[]
  /** Settings of a single server, by index. */
  readonly envOf?: (which: number) => Record<string, string>
}

type Running = Program & { readonly url: string }

export async function startReplicas(
  count: number,
  env: Record<string, string>,
  { nodeOptions = [], envOf = () => ({}) }: ReplicaOptions = {},
): Promise<Replicas> {
  const start = (which: number) => startHttpProgram({ ...env, ...envOf(which) }, [], nodeOptions)
  const programs: (Running | undefined)[] = await Promise.all(
    Array.from({ length: count }, (_, which) => start(which)),
  )
  const served = programs.map(() => 0)
  let turn = 0
  let kills = 0
  let answers = 0
  const next = () => {
    for (let nth = 0; nth < count; nth++) {
      turn = (turn + 1) % count
      const program = programs[turn]
      if (!program) continue
      served[turn] = (served[turn] ?? 0) + 1
      return program.url
    }
    return undefined
  }
  // It closes no idle connection: on a busy machine a client's next request would meet the close.
  const balancer = createServer({ keepAliveTimeout: 0 }, (incoming, answer) => {
    const target = next()
    if (target === undefined) answer.writeHead(503).end('503')
    else forward(incoming, answer, target, () => answers++)
  })
  balancer.listen(0, '127.0.0.1')
  await once(balancer, 'listening')
  const { port } = z.object({ port: z.number() }).parse(balancer.address())
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    get urls() {
      return programs.flatMap((program) => program?.url ?? [])
    },
    served,
    get kills() {
      return kills
    },
    async killRepeatedly(every, random, signal) {
      const restart = async () => {
        const which = Math.floor(random() * count)
        const killed = programs[which]
        programs[which] = undefined
        kills++
        await killed?.[Symbol.asyncDispose]()
        programs[which] = await start(which)
      }
      await restartRepeatedly(restart, { answers: () => answers, every, random, signal })
    },
    async restart(which, signal) {
      const ending = programs[which]
      // The balancer sends no new requests to a server that is stopped or down.
      programs[which] = undefined
      ending?.process.kill(signal)
      const code = (await ending?.exited) ?? null
      programs[which] = await start(which)
      return code
    },
    pidOf: (which) => programs[which]?.process.pid,
    async [Symbol.asyncDispose]() {
      balancer.close()
      balancer.closeAllConnections()
      await Promise.all(programs.map((program) => program?.[Symbol.asyncDispose]()))
    },
  }
}

/**
 * Calls `restart` again and again until the signal fires: each time after a random number of
 * answers, `every` on average, and up to a second more. Without the answers, a program might never
 * finish starting on a busy machine.
 */
export async function restartRepeatedly(
  restart: () => Promise<void> | void,
  {
    answers,
    every,
    random,
    signal,
  }: {
    /** Number of answers so far. */
    readonly answers: () => number
    readonly every: number
    readonly random: () => number
    readonly signal: AbortSignal
  },
): Promise<void> {
  while (!signal.aborted) {
    const enough = answers() + Math.floor(2 * every * random())
    while (answers() < enough && !signal.aborted) await sleep(20)
    await sleep(1000 * random(), undefined, { signal }).catch(() => undefined)
    if (!signal.aborted) await restart()
  }
}

/** Forwards a request. Replies 502 if the server ends meanwhile. */
export function forward(
  incoming: IncomingMessage,
  answer: ServerResponse,
  target: string,
  onReply?: () => void,
): void {
  const { method, headers } = incoming
  const outgoing = request(target, { method, headers, agent: false }, (reply) => {
    onReply?.()
    answer.writeHead(reply.statusCode ?? 502, reply.headers)
    reply.pipe(answer)
    reply.on('error', () => answer.destroy())
  })
  outgoing.on('error', () => {
    if (answer.headersSent) answer.destroy()
    else answer.writeHead(502).end('502')
  })
  answer.on('close', () => outgoing.destroy())
  incoming.pipe(outgoing)
}
