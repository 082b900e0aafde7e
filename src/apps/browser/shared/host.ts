import * as z from 'zod/mini'
import { lenient, lenientOr } from './lenient-schemas.ts'

/** Any object. `z.record` brings 2 kB of zod's other functions into each view. */
const Fields = z.looseObject({})

/** Host context (MCP Apps): theme, locale, and the size of the view's frame. */
const HostContext = z.object({
  theme: lenient(z.string()),
  locale: lenient(z.string()),
  timeZone: lenient(z.string()),
  styles: lenient(z.looseObject({ variables: z.optional(Fields) })),
  displayMode: lenient(z.string()),
  availableDisplayModes: lenient(z.array(z.string())),
  containerDimensions: lenient(
    z.object({ height: z.optional(z.number()), maxHeight: z.optional(z.number()) }),
  ),
  toolInfo: lenient(
    z.object({
      tool: z.object({
        name: z.string(),
        annotations: z.optional(z.object({ readOnlyHint: z.optional(z.boolean()) })),
      }),
    }),
  ),
})
export type HostContext = z.output<typeof HostContext>

const Initialized = z.looseObject({
  hostCapabilities: lenientOr(z.looseObject({}), {}),
  hostContext: lenientOr(HostContext, {}),
})

/** A tool's result, as hosts pass it on. */
export const ToolResult = z.looseObject({
  content: lenientOr(z.array(z.looseObject({ text: z.optional(z.string()) })), []),
  structuredContent: z.optional(Fields),
  isError: z.optional(z.boolean()),
  _meta: lenient(Fields),
})
export type ToolResult = z.output<typeof ToolResult>

const ToolInput = z.looseObject({
  arguments: lenientOr(Fields, {}),
})

interface HostEvents {
  /** The host is ready, or its context has changed. */
  readonly context: (context: HostContext) => void
  readonly input: (args: Readonly<Record<string, unknown>>) => void
  readonly result: (result: ToolResult) => void
  readonly cancelled: () => void
  /** The host is about to remove the view. */
  readonly closed: () => void
  /** The host does not accept the view. */
  readonly refused: (reason: string) => void
}

/** MCP Apps specification version of the views. */
const protocolVersion = '2026-01-26'

export type Host = ReturnType<typeof connectHost>

/** Connects the view to its host and dispatches the host's messages. */
export function connectHost(name: string, events: HostEvents) {
  let capabilities: Readonly<Record<string, unknown>> = {}
  let context: HostContext = {}
  const changed = (change: HostContext) => {
    const before = JSON.stringify({ ...context, containerDimensions: undefined })
    context = { ...context, ...change }
    fitHeight(context)
    // A redraw would reset what the user has opened and chosen, so changes of size and of unused
    // fields cause none.
    if (JSON.stringify({ ...context, containerDimensions: undefined }) === before) return
    applyTheme(context)
    events.context(context)
  }
  const rpc = openRpc({
    request(method) {
      if (method === 'ui/resource-teardown') events.closed()
      else if (method !== 'ping') return undefined
      return {}
    },
    notification(method, params) {
      if (method === 'ui/notifications/tool-input') {
        const { data } = ToolInput.safeParse(params)
        events.input(data?.arguments ?? {})
      } else if (method === 'ui/notifications/tool-result') {
        events.result(resultIn(params))
      } else if (method === 'ui/notifications/tool-cancelled') {
        events.cancelled()
      } else if (method === 'ui/notifications/host-context-changed') {
        changed(HostContext.safeParse(params).data ?? {})
      }
    },
  })
  const appCapabilities = { availableDisplayModes: ['inline', 'fullscreen'] }
  const appInfo = { name: `voice-agent-mcp-${name}`, version: '1' }
  rpc.request('ui/initialize', { protocolVersion, appInfo, appCapabilities }).then(
    (reply) => {
      const { data } = Initialized.safeParse(reply)
      capabilities = data?.hostCapabilities ?? {}
      changed(data?.hostContext ?? {})
      rpc.notify('ui/notifications/initialized', {})
      reportHeight(
        () => context,
        (height) => rpc.notify('ui/notifications/size-changed', { height }),
      )
    },
    (error) => events.refused(reasonIn(error)),
  )
  return {
    /** True if the view may call its server's tools. Known after the event `context`. */
    canCallTools: () => capabilities.serverTools !== undefined,
    canOpenLinks: () => capabilities.openLinks !== undefined,
    /** Calls a tool of the view's own server. Rejects if the host refuses. */
    callTool: async (tool: string, args: Readonly<Record<string, unknown>>) =>
      resultIn(await rpc.request('tools/call', { name: tool, arguments: args })),
    /** Opens an external page; the host may ask the user first. Rejects if the page is not opened. */
    openLink: async (url: string) => refuseError(await rpc.request('ui/open-link', { url })),
    canSendMessages: () => capabilities.message !== undefined,
    /** Sends a message in the user's name. Rejects if the host refuses. */
    sendMessage: async (text: string) =>
      refuseError(
        await rpc.request('ui/message', { role: 'user', content: [{ type: 'text', text }] }),
      ),
    /**
     * Sets the text that the model gets about this view with its next turn. Does nothing if the host
     * does not support it.
     */
    async updateModelContext(text: string): Promise<void> {
      if (capabilities.updateModelContext === undefined) return
      await rpc.request('ui/update-model-context', { content: [{ type: 'text', text }] })
    },
    /** The other display mode that the host offers: larger or, in fullscreen, back. */
    otherDisplayMode() {
      const other = context.displayMode === 'fullscreen' ? 'inline' : 'fullscreen'
      return context.availableDisplayModes?.includes(other) ? other : undefined
    },
    /**
     * Requests a display mode. The host may refuse; a change of context reports the mode that it
     * shows.
     */
    requestDisplayMode: (mode: 'fullscreen' | 'inline') =>
      rpc.request('ui/request-display-mode', { mode }),
  }
}

const Reply = z.looseObject({ isError: z.optional(z.boolean()) })

/** Throws if a reply reports an error. */
function refuseError(reply: unknown): void {
  if (Reply.safeParse(reply).data?.isError) throw new Error('refused')
}

/** Parses a result; an invalid one is shown as a failure. */
const resultIn = (received: unknown): ToolResult =>
  ToolResult.safeParse(received).data ?? { content: [], isError: true }

/** Applies the host's theme and style variables. */
function applyTheme({ theme, styles }: HostContext): void {
  const root = document.documentElement
  if (theme === 'light' || theme === 'dark') root.style.colorScheme = theme
  for (const [name, value] of Object.entries(styles?.variables ?? {})) {
    if (name.startsWith('--') && typeof value === 'string') root.style.setProperty(name, value)
  }
}

/**
 * Makes the view fill a frame of fixed height, and scroll in it. `--host-height` is the maximum
 * height, for views that scroll a part of themselves; unset without a maximum.
 */
function fitHeight({ containerDimensions: { height, maxHeight } = {} }: HostContext): void {
  const root = document.documentElement
  root.toggleAttribute('data-fixed-height', height !== undefined)
  const limit = height === undefined ? maxHeight && `${maxHeight}px` : '100vh'
  root.style.setProperty('--host-height', limit || '')
}

/**
 * Reports the height that the view needs, at most the host's maximum, now and after each change.
 * The width adapts. In a frame of fixed height nothing is reported.
 */
function reportHeight(contextNow: () => HostContext, send: (height: number) => void): void {
  let last = -1
  const report = () => {
    const { height: fixed, maxHeight = Number.POSITIVE_INFINITY } =
      contextNow().containerDimensions ?? {}
    const main = document.querySelector('main')
    const height = Math.min(Math.ceil(main?.getBoundingClientRect().height ?? 0), maxHeight)
    if (fixed === undefined && height !== last) send(height)
    last = height
  }
  const observer = new ResizeObserver(report)
  for (const element of document.querySelectorAll('body, main')) observer.observe(element)
  report()
}

/** Reason of the host's refusal. */
export const reasonIn = (error: unknown): string =>
  error instanceof Error ? error.message : 'no reason given'

/*
 * JSON-RPC 2.0 with the window that shows this view (MCP Apps, "Transport Layer"). The SDK's class for
 * it is 650 kB with its schemas; a view needs six messages of it.
 */

const Message = z.looseObject({
  jsonrpc: z.string(),
  /** A string or a number. A reply to a request has the same id. */
  id: z.optional(z.unknown()),
  method: z.optional(z.string()),
  params: z.optional(z.unknown()),
  result: z.optional(z.unknown()),
  error: z.optional(z.looseObject({ message: z.string() })),
})

interface RpcHandlers {
  /** Answers a host's request; `undefined` if the method is unknown. */
  readonly request: (method: string) => object | undefined
  readonly notification: (method: string, params: unknown) => void
}

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** JSON-RPC with the parent window; messages of all other windows are ignored. */
function openRpc(handlers: RpcHandlers) {
  const host = window.parent
  const waiting = new Map<unknown, Waiting>()
  let lastId = 0
  // The target origin is '*', because a view does not know the host's origin; messages go to the
  // parent window only.
  const send = (message: object) => host.postMessage({ jsonrpc: '2.0', ...message }, '*')

  window.addEventListener('message', ({ source, data }) => {
    if (source !== host) return
    const { data: message } = Message.safeParse(data)
    if (message?.jsonrpc !== '2.0') return
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
    request: (method: string, params: object) =>
      new Promise<unknown>((resolve, reject) => {
        const id = ++lastId
        waiting.set(id, { resolve, reject })
        send({ id, method, params })
      }),
    notify: (method: string, params: object) => send({ method, params }),
  }
}

const answer = (id: unknown, result: object | undefined) =>
  result ? { id, result } : { id, error: { code: -32601, message: 'Method not found' } }
