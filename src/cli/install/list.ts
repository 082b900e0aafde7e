import { safeLine } from '../../text/safe-text.ts'
import { reasonOf } from './change-client.ts'
import { readClientFile } from './client-file.ts'
import type { Machine } from './clients.ts'
import { type Client, clients, isInstalled } from './clients.ts'
import { valueAt } from './text-format.ts'

/** A client, and whether it is on the machine and has the server. */
export interface FoundClient {
  readonly client: Client
  readonly file: string
  readonly isFound: boolean
  /** `undefined`: its file cannot be read; `problem` says why. */
  readonly hasServer: boolean | undefined
  /** The entry of the server in the file. */
  readonly entry: unknown
  readonly problem: string | undefined
}

/** Every client that is known. */
export const findClients = (machine: Machine, name: string): FoundClient[] =>
  clients.map((client) => {
    const { file } = client.locate(machine)
    const found = { client, file, isFound: isInstalled(client, machine) }
    try {
      const data = client.format.read(readClientFile(file).text)
      const entry = valueAt(data, [client.servers, name])
      return { ...found, hasServer: entry !== undefined, entry, problem: undefined }
    } catch (error) {
      return { ...found, hasServer: undefined, entry: undefined, problem: reasonOf(error) }
    }
  })

/** The clients as lines of a table, or as JSON. */
export function clientList(found: readonly FoundClient[], wantsJson: boolean): string {
  if (wantsJson) {
    const rows = found.map(({ client, file, isFound, hasServer, problem }) => ({
      client: client.id,
      title: client.title,
      found: isFound,
      installed: hasServer ?? null,
      file,
      problem: problem ?? null,
    }))
    return JSON.stringify({ clients: rows }, undefined, 2)
  }
  const width = Math.max(...found.map(({ client }) => client.id.length))
  return found
    .map(({ client, file, isFound, hasServer, problem }) => {
      const state = hasServer ? 'installed' : isFound ? 'found' : 'not found'
      const line = `${client.id.padEnd(width)}  ${state.padEnd(9)}  ${safeLine(file)}`
      return problem === undefined ? line : `${line}\n${' '.repeat(width)}  ${safeLine(problem)}`
    })
    .join('\n')
}
