import {
  type McpServerFactory,
  ProtocolError,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { type CallContext, callTool } from './call.ts'
import { createCancelling } from './cancelling.ts'
import { abilitiesOf, tasksExtension } from './client-abilities.ts'
import { complete } from './completions.ts'
import type { ConfirmMode } from './confirm-mode.ts'
import { createConfirmations } from './confirmation.ts'
import { type Credential, credentialOf } from './credential.ts'
import type { Exposure, Select } from './exposure.ts'
import { instructionsFor } from './instructions.ts'
import { nearest } from './nearest.ts'
import { getPrompt, listPrompts } from './prompts/index.ts'
import {
  guarded,
  listResources,
  readResource,
  resourceTemplates,
  watchResources,
} from './resources.ts'
import type { Session } from './session.ts'
import {
  type Cancelled,
  cancelTask,
  createCancelled,
  getTask,
  type Showing,
  TaskParams,
} from './tasks.ts'

export interface ServerOptions {
  /** What is exposed to a connection or an HTTP request, by the request's headers. */
  readonly select: Select
  readonly version: string
  readonly isSandbox: boolean
  /** Account that all sessions act on, where the operator has pinned it. */
  readonly account: string | undefined
  /** The access of a connection (stdio, no key given) or of an HTTP request. */
  readonly sessionFor: (credential: Credential | undefined) => Session
  /** How calls are shown that are followed as tasks. */
  readonly showing: Showing
  readonly confirm: ConfirmMode
  readonly onBug: CallContext['onBug']
  /** Told of each server that is made, for what a transport has to send through it. */
  readonly onServer?: (server: Server, session: Session) => void
}

/** How long a client may keep what never changes while this server runs, ms. */
const unchanging = { ttlMs: 3_600_000, cacheScope: 'public' } as const

/** The same for what depends on the headers of a request: not to be handed to other clients. */
const unchangingForOne = { ...unchanging, cacheScope: 'private' } as const

/**
 * The one factory behind every transport and both protocol eras. It is called for each HTTP
 * request and each stdio connection, so all it does is bind handlers to a session.
 */
export function createServerFactory(options: ServerOptions): McpServerFactory {
  const { select, isSandbox, version, onBug } = options
  const info = {
    name: isSandbox ? 'voice-agent-mcp-sandbox' : 'voice-agent-mcp',
    title: isSandbox ? 'Voice agents (SANDBOX)' : 'Voice agents',
    version,
  }
  const viewOf = viewsFor(options)
  const confirmations = createConfirmations(options.confirm)
  const cancelled = createCancelled()
  const cancelling = createCancelling()

  return ({ era, authInfo, requestInfo }) => {
    const selected = select((name) => requestInfo?.headers.get(name) ?? undefined)
    // The transport has answered such a request already.
    if (!selected.ok)
      throw new Error(`A refused request got past the transport: ${selected.message}`)
    const { exposure } = selected
    const { tools } = exposure
    const view = viewOf(exposure)
    const session = options.sessionFor(credentialOf(authInfo))
    // Stateless HTTP of the 2025 revisions has no stream on which a client could be told anything.
    const isMute = era === 'legacy' && requestInfo !== undefined
    const server = new Server(info, isMute ? view.mute : view.serverOptions)
    server.setRequestHandler('tools/list', () => ({ tools: view.listed() }))
    server.setRequestHandler('tools/call', ({ params }, context) => {
      const tool = view.byName.get(params.name)
      if (!tool) throw noSuchTool(params.name, exposure)
      const abilities = abilitiesOf(server, context)
      const work = (signal: AbortSignal) =>
        callTool(tool, params.arguments ?? {}, {
          session,
          tools,
          signal,
          onBug,
          confirmOf: (call) => confirmations.of({ ...call, ...abilities, context }),
          progress: progressOf(context),
          takesTasks: abilities.takesTasks,
        })
      return isMute ? cancelling.run(caller, context.mcpReq, work) : work(context.mcpReq.signal)
    })
    const caller = `${session.owner} ${requestInfo?.headers.get('user-agent')}`
    if (isMute) {
      server.setNotificationHandler('notifications/cancelled', ({ params: { requestId } }) => {
        if (requestId !== undefined) cancelling.cancel(caller, requestId)
      })
    }
    const prompting = { session, onBug }
    server.setRequestHandler('prompts/list', () => listPrompts(prompting))
    server.setRequestHandler('prompts/get', ({ params }, { mcpReq: { signal } }) =>
      getPrompt(prompting, params.name, params.arguments, signal),
    )
    server.setRequestHandler('completion/complete', ({ params }, { mcpReq: { signal } }) =>
      complete(prompting, params, signal),
    )
    serveTasks(server, { session, onBug, cancelled, showing: options.showing })
    if (!isMute) serveSubscriptions(server, session)
    options.onServer?.(server, session)
    server.setRequestHandler('resources/list', ({ params }, { mcpReq: { signal } }) =>
      listResources({ session, onBug }, params?.cursor, signal),
    )
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }))
    server.setRequestHandler('resources/read', ({ params }, { mcpReq: { signal } }) =>
      readResource({ session, onBug }, params.uri, signal),
    )
    return server
  }
}

/** What follows from an exposure, made once for each that is in use. */
function viewsFor({ isSandbox, account }: ServerOptions) {
  const made = new WeakMap<Exposure, ReturnType<typeof make>>()
  const make = (exposure: Exposure) => {
    const capabilities = {
      tools: {},
      resources: { subscribe: true },
      prompts: {},
      completions: {},
      extensions: { [tasksExtension]: {} },
    }
    const serverOptions = {
      capabilities,
      instructions: instructionsFor({ isSandbox, account, exposure }),
      cacheHints: {
        'tools/list': unchangingForOne,
        'prompts/list': unchanging,
        'resources/templates/list': unchanging,
        'server/discover': unchangingForOne,
      },
    }
    return {
      byName: new Map(exposure.tools.map((tool) => [tool.name, tool])),
      listed: () =>
        exposure.tools.map((tool) => tool.listed(account === undefined ? 'any' : 'pinned')),
      serverOptions,
      /** For connections on which nobody can be told of changes. */
      mute: { ...serverOptions, capabilities: { ...capabilities, resources: {} } },
    }
  }
  return (exposure: Exposure) => {
    const view = made.get(exposure) ?? make(exposure)
    made.set(exposure, view)
    return view
  }
}

function noSuchTool(name: string, { tools, hidden }: Exposure): ProtocolError {
  const reason = hidden.get(name)
  if (reason) return new ProtocolError(-32602, `The tool ${name} is not exposed by ${reason}.`)
  const shown = name.slice(0, 64)
  const names = tools.map((tool) => tool.name)
  const meant = nearest(shown, names)
  const hint = meant ? ` Did you mean ${meant}?` : ''
  return new ProtocolError(-32602, `There is no tool ${shown}.${hint}`)
}

/** Sends progress where the client has asked for it. */
function progressOf({ mcpReq }: ServerContext): CallContext['progress'] {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => undefined
  return (progress, message) => {
    const params = { progressToken, progress, message }
    // Who has gone needs no progress.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}

interface TaskServing {
  readonly session: Session
  readonly cancelled: Cancelled
  readonly showing: Showing
  readonly onBug: CallContext['onBug']
}

/** What the tasks methods take and give; made once, not for each server. */
const schemas = { params: TaskParams, result: z.looseObject({}) }

/** The tasks extension (SEP-2663), for clients that declare it. */
function serveTasks(server: Server, { session, cancelled, showing, onBug }: TaskServing): void {
  const onlyForTakers = (context: ServerContext) => {
    if (abilitiesOf(server, context).takesTasks) return
    const requiredCapabilities = { extensions: { [tasksExtension]: {} } }
    throw new ProtocolError(-32021, 'Tasks are for clients that declare the tasks extension.', {
      requiredCapabilities,
    })
  }
  const reading = <T>(taskId: string, read: () => Promise<T>) =>
    guarded('The task', { session, onBug }, read).catch((error: unknown) => {
      if (!(error instanceof ResourceNotFoundError)) throw error
      throw new ProtocolError(-32602, `There is no task ${taskId.slice(0, 64)} for this API key.`)
    })
  server.setRequestHandler('tasks/get', schemas, ({ taskId }, context) => {
    onlyForTakers(context)
    const { signal } = context.mcpReq
    return reading(taskId, () => getTask(taskId, session, { cancelled, showing }, signal))
  })
  server.setRequestHandler('tasks/cancel', schemas, async ({ taskId }, context) => {
    onlyForTakers(context)
    const { signal } = context.mcpReq
    await reading(taskId, () => cancelTask(taskId, session, cancelled, signal))
    return {}
  })
  // No task of ours waits for input; late or stray answers are acknowledged and ignored.
  server.setRequestHandler('tasks/update', schemas, (_, context) => {
    onlyForTakers(context)
    return {}
  })
}

/** Subscriptions of the 2025 revisions, which reach the server; later ones are the transport's. */
function serveSubscriptions(server: Server, session: Session): void {
  const stops = new Map<string, () => void>()
  const end = (uri: string) => {
    stops.get(uri)?.()
    stops.delete(uri)
  }
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    end(uri)
    const tell = () => server.sendResourceUpdated({ uri }).catch(() => undefined)
    stops.set(uri, watchResources(session, [uri], tell))
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    end(uri)
    return {}
  })
  server.onclose = () => {
    for (const uri of [...stops.keys()]) end(uri)
  }
}
