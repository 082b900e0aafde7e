import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import { type Era, type GetHeader, headerNames, modernVersion } from '../protocol/envelope.ts'
import type { CallTool, ListTools, ReadResource } from './messages.ts'

type FastMessage = ListTools | CallTool | ReadResource

/**
 * Whether the headers of a request are those that its era prescribes for its message. The SDK
 * judges all others: it refuses some of them, and serves some.
 */
export function hasOrdinaryHeaders(message: FastMessage, era: Era, header: GetHeader): boolean {
  const accept = header('accept') ?? ''
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) return false
  const version = header(headerNames.protocolVersion)
  const method = header(headerNames.method)
  const name = header(headerNames.name)
  return era === 'modern'
    ? version === modernVersion && method === message.method && name === nameOf(message)
    : isLegacyVersion(version) && method === undefined && name === undefined
}

/** The 2025 revisions before 2025-06-18 have no such header. */
const isLegacyVersion = (version: string | undefined) =>
  version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)

/** What the header Mcp-Name repeats of a message. */
function nameOf(message: FastMessage): string | undefined {
  switch (message.method) {
    case 'tools/list':
      return undefined
    case 'tools/call':
      return message.params.name
    case 'resources/read':
      return message.params.uri
  }
}
