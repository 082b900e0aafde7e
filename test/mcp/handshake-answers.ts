import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { readView } from '../../src/apps/read-view.ts'
import { viewExtension, viewMimeType, viewNames } from '../../src/apps/views.ts'
import { everyTool } from '../../src/mcp/exposure.ts'
import { serverInfoOf } from '../../src/mcp/server-info.ts'
import { entryOf } from '../../src/mcp/skills.ts'
import { createStdioHandshake } from '../../src/mcp/stdio-handshake.ts'
import type { Client } from '../../src/platform/client.ts'
import { skills } from '../../src/prompts/skills.ts'
import { initializedVersions, toolSummaries } from '../../src/server/tool-summaries.ts'
import { clientMeta } from '../harness/mcp-request.ts'
import { createTestService, version } from './test-service.ts'

const unusedClient: Client = { call: () => Promise.reject(new Error('Nobody is asked')) }

// Warm-up: `handshakeOf` waits only for a few event-loop turns, and the first read of these takes
// longer.
await Promise.all([...viewNames.map(readView), ...skills.map(entryOf)])

// The SDK's server, to compare with. Requests that need the platform get an error: no platform is
// behind its client.
const { factory } = createTestService(unusedClient, () => undefined)

const createHandshake = () =>
  createStdioHandshake({
    isSandbox: true,
    account: undefined,
    confirm: 'auto',
    exposure: everyTool(toolSummaries),
    info: serverInfoOf(true, version),
    listed: toolSummaries,
    versions: initializedVersions,
  })

export type Message = Record<string, unknown>

/**
 * Runs messages through the stdio handshake: its answers, the messages to replay to the SDK, and
 * the rest.
 */
export function handshakeOf(messages: readonly Message[]) {
  const handshake = createHandshake()
  const answers: unknown[] = []
  const replayed: Message[] = []
  for (const [at, message] of messages.entries()) {
    const reply = handshake(message)
    if (!reply) return { answers, replayed, rest: messages.slice(at) }
    if (reply.text !== undefined) answers.push(JSON.parse(reply.text))
    if (reply.mustReplay) replayed.push(message)
  }
  return { answers, replayed, rest: [] }
}

/** Answers of the SDK's server to the messages. */
export async function sdkAnswers(messages: readonly Message[]): Promise<Message[]> {
  const answers: JSONRPCMessage[] = []
  const transport = {
    start: async () => undefined,
    close: async () => undefined,
    send: async (message: JSONRPCMessage) => void answers.push(message),
    onmessage: undefined as ((message: JSONRPCMessage) => void) | undefined,
  }
  const handle = serveStdio(factory, { transport, onerror: () => undefined })
  await new Promise(setImmediate)
  for (const message of messages) {
    transport.onmessage?.(message as JSONRPCMessage)
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  }
  await handle.close()
  return JSON.parse(JSON.stringify(answers))
}

/** Answers to a conversation that the handshake begins and the SDK continues. */
export async function allAnswers(messages: readonly Message[]): Promise<unknown[]> {
  const { answers, replayed, rest } = handshakeOf(messages)
  if (rest.length === 0) return answers
  const replays = replayed.map((one) => ('id' in one ? { ...one, id: replayId } : one))
  const later = await sdkAnswers([...replays, ...rest])
  return [...answers, ...later.filter(({ id }) => id !== replayId)]
}

const replayId = 'an id that no client has'

const clientInfo = { name: 'test', version: '1', title: 'Test' }
export const initialize = (protocolVersion: string): Message => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion, capabilities: { roots: { listChanged: true } }, clientInfo },
})
export const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
export const list = { jsonrpc: '2.0', id: 'two', method: 'tools/list', params: {} }
export const modern = (method: string, capabilities: object = { elicitation: {} }): Message => ({
  jsonrpc: '2.0',
  id: 3,
  method,
  params: { _meta: clientMeta(capabilities) },
})

/** The message with changed params. */
export const withParams = (message: Message, params: Record<string, unknown>): Message => ({
  ...message,
  params: { ...(message.params as object), ...params },
})

/** Capabilities of a client with views. */
export const viewCapabilities = { extensions: { [viewExtension]: { mimeTypes: [viewMimeType] } } }

export const withViews = (message: Message): Message =>
  withParams(message, { capabilities: viewCapabilities })
