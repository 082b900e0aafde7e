import type { JSONRPCErrorResponse, JSONRPCRequest } from '@modelcontextprotocol/server'
import { errorResponse } from '../mcp/protocol/json-rpc.ts'
import { WatchLimitError } from '../session/watched-replies.ts'
import { wantedResources } from './subscriptions.ts'

/** Watches what a `subscriptions/listen` request asks for, until the returned function is called. */
export type WatchRequest = (uris: readonly string[], request: JSONRPCRequest) => () => void

/** The resources that the subscriptions of a stdio connection watch, by the ids of their requests. */
export class StdioSubscriptions {
  readonly #watch: WatchRequest
  readonly #stops = new Map<unknown, () => void>()

  constructor(watch: WatchRequest) {
    this.#watch = watch
  }

  /** Watches what a request asks for. Returns the error response if that is too much. */
  begin(request: JSONRPCRequest): JSONRPCErrorResponse | undefined {
    try {
      this.#stops.set(request.id, this.#watch(wantedResources(request), request))
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
