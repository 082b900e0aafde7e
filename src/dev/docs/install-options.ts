import { installOptions } from '../release/install-options.ts'
import { code, table } from './markdown.ts'

/** What the clients of the desktop bundle ask for. */
export const installOptionTable = (): string =>
  table(
    ['Option', 'Setting', 'Meaning'],
    Object.values(installOptions).map(({ title, variable, description }) => [
      title,
      code(variable),
      description,
    ]),
  )
