import * as z from 'zod/mini'

/*
 * JSON-RPC 2.0 with the window that shows this view (MCP Apps, "Transport Layer"). The SDK's class for
 * it is 650 kB with its schemas; a view needs six messages of it.
 */

const Message = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.optional(z.union([z.string(), z.number()])),
  method: z.optional(z.string()),
  params: z.optional(z.unknown()),
  result: z.optional(z.unknown()),
  error: z.optional(z.looseObject({ message: z.string() })),
})

export interface Rpc {
  request(method: string, params: object): Promise<unknown>
  notify(method: string, params: object): void
}

export interface RpcHandlers {
  /** Answers a request of the host; `undefined`: there is no such method. */
  readonly request: (method: string) => object | undefined
  readonly notification: (method: string, params: unknown) => void
}

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** Speaks with the parent window; messages of all other windows are ignored. */
export function openRpc(handlers: RpcHandlers): Rpc {
  const host = window.parent
  const waiting = new Map<string | number, Waiting>()
  let lastId = 0
  // The host's origin is not known to a view. What is sent goes to its parent alone.
  const send = (message: object) => host.postMessage({ jsonrpc: '2.0', ...message }, '*')

  window.addEventListener('message', ({ source, data }) => {
    if (source !== host) return
    const { data: message } = Message.safeParse(data)
    if (!message) return
    const { id, method, params, result, error } = message
    if (method !== undefined && id !== undefined) return send(answer(id, handlers.request(method)))
    if (method !== undefined) return handlers.notification(method, params)
    const request = id === undefined ? undefined : waiting.get(id)
    if (id === undefined || !request) return
    waiting.delete(id)
    if (error) request.reject(new Error(error.message))
    else request.resolve(result)
  })

  return {
    request: (method, params) =>
      new Promise((resolve, reject) => {
        const id = ++lastId
        waiting.set(id, { resolve, reject })
        send({ id, method, params })
      }),
    notify: (method, params) => send({ method, params }),
  }
}

const answer = (id: string | number, result: object | undefined) =>
  result ? { id, result } : { id, error: { code: -32601, message: 'Method not found' } }
