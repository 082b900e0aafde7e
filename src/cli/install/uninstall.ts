import { changeClients, type RunOptions, type Surroundings } from './run.ts'
import { stepsToRemove } from './server-entry.ts'

/** Takes the server out of clients, and gives the exit code. Throws UsageError. */
export const uninstall = (options: RunOptions, surroundings: Surroundings): Promise<number> =>
  changeClients(
    options,
    surroundings,
    (client) => ({
      name: options.name,
      stepsFor: (data) => stepsToRemove(client, data, options.name),
      secrets: [],
      isPrivate: false,
      notes: [],
    }),
    () => [],
  )
