import type { ServerResponse } from 'node:http'
import { refuse } from './http-answers.ts'

/**
 * Lets a server stop without losing a request: those under way are answered, further ones are refused
 * with a status that tells clients and balancers to send them again. Connections are accepted
 * meanwhile, so that probes are answered, too.
 */
export class Drain {
  #underWay = 0
  #whenNone: (() => void) | undefined
  isDraining = false

  /** Counts a request until its answer has ended. False: it is answered with a refusal. */
  admits(response: ServerResponse): boolean {
    if (this.isDraining) {
      // The next request on this connection would be refused, too.
      response.setHeader('connection', 'close')
      refuse(response, 503, 'The server is stopping. Nothing was done: send the request again.')
      return false
    }
    this.#underWay++
    response.once('close', () => {
      this.#underWay--
      if (this.#underWay === 0) this.#whenNone?.()
    })
    return true
  }

  /** Resolves when all requests under way are answered: true, or after the time, ms: false. */
  async answered(longestMs: number): Promise<boolean> {
    if (this.#underWay === 0) return true
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#whenNone = () => resolve(true)
    const timer = setTimeout(() => resolve(false), longestMs)
    return promise.finally(() => clearTimeout(timer))
  }
}
