import type {
  Implementation,
  JSONRPCMessage,
  JSONRPCRequest,
  Result,
  ServerContext,
  ServerOptions,
  Transport,
} from '@modelcontextprotocol/server'
import type { Era } from './envelope.ts'
import { ErrorRewritingServer } from './error-rewriting-server.ts'
import type { RequestId } from './json-rpc.ts'

/** Records the requests that a server of the SDK answers. */
export interface ServerObserving {
  /** Runs the handler of a request. */
  request<T>(request: JSONRPCRequest, revision: Revision, run: () => Promise<T>): Promise<T>
  /** A request was refused with a code of JSON-RPC before a handler ran. */
  refused(id: RequestId, revision: Revision, code: number): void
}

/** The revision of a connection; `undefined`: none is agreed on. */
type Revision = string | undefined

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>

/** A server of the SDK whose requests are recorded. */
export class ObservedServer extends ErrorRewritingServer {
  readonly #observing: ServerObserving
  /** Requests that a handler works on, or has answered. */
  readonly #handled = new Set<RequestId>()

  constructor(
    info: Implementation,
    options: ServerOptions,
    { era, observing }: { readonly era: Era; readonly observing: ServerObserving },
  ) {
    super(info, options, era)
    this.#observing = observing
  }

  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => {
      this.#noteAnswer(message)
      return send(message, options)
    }
    await super.connect(transport)
  }

  /** Called also by the SDK's constructor, before this one has run. */
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const run = super._wrapHandler(method, handler)
    return async (request, context) => {
      this.#handled.add(request.id)
      try {
        return await this.#observing.request(request, this.#revision, () => run(request, context))
      } finally {
        // A cancelled request gets no answer.
        if (context.mcpReq.signal.aborted) this.#handled.delete(request.id)
      }
    }
  }

  get #revision(): Revision {
    return this.getNegotiatedProtocolVersion()
  }

  #noteAnswer(message: JSONRPCMessage): void {
    if ('method' in message || message.id === undefined) return
    if (this.#handled.delete(message.id) || !('error' in message)) return
    this.#observing.refused(message.id, this.#revision, message.error.code)
  }
}
