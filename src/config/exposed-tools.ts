import {
  type Exposure,
  ExposureError,
  everyTool,
  narrow,
  type ToolCard,
  type Wanted,
} from '../mcp/protocol/exposure.ts'
import { ConfigError } from './flags.ts'
import { shownName } from './settings.ts'

/** What the operator exposes of the tools. Throws ConfigError. */
export function exposedOf<T extends ToolCard>(tools: readonly T[], wanted: Wanted): Exposure<T> {
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
