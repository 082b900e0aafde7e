import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Environment } from '../../config/setting-texts.ts'
import { UsageError } from './usage-error.ts'

/** The user's machine, as far as the places of configuration files depend on it. */
export interface Machine {
  readonly platform: NodeJS.Platform
  readonly env: Environment
  /** The user's home folder. */
  readonly home: string
}

/** This machine. Throws UsageError without a home folder. */
export function thisMachine(env: Environment): Machine {
  const home = homedir()
  if (!isAbsolute(home)) {
    throw new UsageError('The home folder is unknown: set HOME to its absolute path.')
  }
  return { platform: process.platform, env, home }
}

/** A folder that a variable names, else the usual one. A relative path counts as not set (XDG). */
const folderOf = (variable: string | undefined, usual: string): string =>
  variable !== undefined && isAbsolute(variable) ? variable : usual

/** Where programs of the XDG kind keep their configuration, on Linux and macOS alike. */
export const xdgConfig = ({ env, home }: Machine): string =>
  folderOf(env.XDG_CONFIG_HOME, join(home, '.config'))

/** %APPDATA% of Windows. */
export const roaming = ({ env, home }: Machine): string =>
  folderOf(env.APPDATA, join(home, 'AppData', 'Roaming'))

/** %LOCALAPPDATA% of Windows. */
export const localAppData = ({ env, home }: Machine): string =>
  folderOf(env.LOCALAPPDATA, join(home, 'AppData', 'Local'))

/** Where desktop programs (Electron's `appData`) keep their configuration. */
export function appData(machine: Machine): string {
  if (machine.platform === 'win32') return roaming(machine)
  if (machine.platform === 'darwin') return join(machine.home, 'Library', 'Application Support')
  return xdgConfig(machine)
}

/** A folder that a variable of a client itself names, else one in the home folder. */
export const clientHome = ({ env, home }: Machine, variable: string, usual: string): string =>
  folderOf(env[variable], join(home, usual))
