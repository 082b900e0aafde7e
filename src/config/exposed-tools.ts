import {
  type ExposableTool,
  type Exposure,
  ExposureError,
  type ExposureWish,
  everyTool,
  narrow,
} from '../mcp/protocol/exposure.ts'
import { ConfigError } from './flags.ts'
import { shownName } from './settings.ts'

/** What the operator exposes of the tools. Throws ConfigError. */
export function exposedOf<T extends ExposableTool>(
  tools: readonly T[],
  wanted: ExposureWish,
): Exposure<T> {
  const names = {
    toolsets: shownName('toolsets'),
    tools: shownName('tools'),
    excludeTools: shownName('exclude-tools'),
    readOnly: shownName('read-only'),
  }
  try {
    return narrow(everyTool(tools), wanted, { who: "this server's setting", names })
  } catch (error) {
    throw error instanceof ExposureError ? new ConfigError(error.message) : error
  }
}
