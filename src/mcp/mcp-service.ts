import type { McpServerFactory } from '@modelcontextprotocol/server'
import { createHttpFastPath, type HttpFastPath } from './fast/http-fast-path.ts'
import { createServerFactory, type ServerFactoryOptions } from './protocol/server.ts'

/** How assistants are answered, on every transport and in every protocol era. */
export interface McpService {
  /** Makes the SDK's server of an HTTP request or a stdio connection. */
  readonly factory: McpServerFactory
  /** For HTTP requests to which there is nothing but an answer. */
  readonly httpFastPath: HttpFastPath
}

export function createMcpService(options: ServerFactoryOptions): McpService {
  const { factory, ...parts } = createServerFactory(options)
  return { factory, httpFastPath: createHttpFastPath({ ...options, ...parts }) }
}
