import type { JSONRPCErrorResponse, JSONRPCRequest } from '@modelcontextprotocol/server'
import { errorResponse } from '../mcp/protocol/json-rpc.ts'
import { WatchLimitError } from '../session/watched-replies.ts'
import { wantedResources } from './subscriptions.ts'

/** The resources that the subscriptions of a stdio connection watch, by the ids of their requests. */
export class StdioSubscriptions {
  readonly #watch: (uris: readonly string[]) => () => void
  readonly #stops = new Map<unknown, () => void>()

  constructor(watch: (uris: readonly string[]) => () => void) {
    this.#watch = watch
  }

  /** Watches what a request asks for. Returns the error response if that is too much. */
  begin(request: JSONRPCRequest): JSONRPCErrorResponse | undefined {
    try {
      this.#stops.set(request.id, this.#watch(wantedResources(request)))
      return undefined
    } catch (error) {
      if (!(error instanceof WatchLimitError)) throw error
      return errorResponse(request.id, { code: -32000, message: error.message })
    }
  }

  end(id: unknown): void {
    this.#stops.get(id)?.()
    this.#stops.delete(id)
  }

  endAll(): void {
    for (const id of [...this.#stops.keys()]) this.end(id)
  }
}
