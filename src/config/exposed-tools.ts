import {
  type ExposableTool,
  type Exposure,
  ExposureError,
  type ExposureSettings,
  everyTool,
  narrowExposure,
} from '../mcp/protocol/exposure.ts'
import { ConfigError } from './config-error.ts'
import { scopeSettings } from './scope.ts'
import { settingLabel } from './setting.ts'

/** How messages name the settings of the exposure. */
const names = {
  toolsets: settingLabel(scopeSettings, 'toolsets'),
  tools: settingLabel(scopeSettings, 'tools'),
  excludeTools: settingLabel(scopeSettings, 'exclude-tools'),
  readOnly: settingLabel(scopeSettings, 'read-only'),
}

/** The tools that the operator's settings expose. Throws ConfigError. */
export function exposedTools<T extends ExposableTool>(
  tools: readonly T[],
  settings: ExposureSettings,
): Exposure<T> {
  try {
    return narrowExposure(everyTool(tools), settings, { who: "this server's setting", names })
  } catch (error) {
    throw error instanceof ExposureError ? new ConfigError(error.message) : error
  }
}
