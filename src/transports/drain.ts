import type { ServerResponse } from 'node:http'
import { refuse } from './http-answers.ts'

/**
 * Refuses a request while the server stops: those under way are answered, and further ones get a
 * status that tells clients and balancers to send them again. Connections are accepted meanwhile, so
 * that probes are answered, too.
 */
export function refuseWhileStopping(response: ServerResponse): void {
  // The next request on this connection would be refused, too.
  response.setHeader('connection', 'close')
  refuse(response, 503, 'The server is stopping. Nothing was done: send the request again.')
}

/** Whether the work ends within the time, ms. */
export async function endsWithin(work: Promise<void>, longestMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), longestMs)
  return Promise.race([work.then(() => true), late]).finally(() => clearTimeout(timer))
}
