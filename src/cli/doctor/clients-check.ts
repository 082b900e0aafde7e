import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Environment } from '../../config/setting-texts.ts'
import { isObject } from '../../json/is-object.ts'
import { type FoundClient, findClients } from '../install/list.ts'
import { thisMachine } from '../install/machine.ts'
import { type Check, type Finding, green } from './check.ts'

/** The MCP clients on this machine, and whether they start this server. */
export const clientsCheck = (env: Environment, name: string): Check => ({
  name: 'clients',
  title: 'Clients',
  run(): Finding {
    const found = findClients(thisMachine(env), name).filter(({ isFound }) => isFound)
    if (found.length === 0) return green('No MCP client is found on this machine.')
    const details = found.map((one) => `${one.client.title}: ${stateOf(one)}  (${one.file})`)
    const broken = found.filter((one) => one.problem !== undefined || missingFile(one))
    const having = found.filter(({ hasServer }) => hasServer)
    const text = `${having.length} of ${found.length} that are found ${having.length === 1 ? 'has' : 'have'} the server ${name}.`
    if (broken.length > 0) {
      const ids = broken.map(({ client }) => client.id).join(' ')
      return {
        light: 'yellow',
        text,
        details,
        todo: `Correct the file that cannot be read, or renew the entry: voice-agent-mcp install ${ids}`,
      }
    }
    return having.length > 0
      ? green(text, details)
      : { light: 'yellow', text, details, todo: 'Add it to them: voice-agent-mcp install' }
  },
})

function stateOf(found: FoundClient): string {
  if (found.problem !== undefined) return found.problem
  if (!found.hasServer) return 'does not have it'
  const missing = missingFile(found)
  return missing === undefined
    ? `has it, ${withWhat(found)}`
    : `has it, but ${missing} does not exist any more`
}

/** What the entry lets the server work with: an environment of a shell does not count there. */
function withWhat({ client, entry }: FoundClient): string {
  const { args, [client.form.env]: env } = isObject(entry) ? entry : {}
  const words = Array.isArray(args) ? args.map(String) : []
  const flag = (name: string) =>
    words.find((_, at) => words[at - 1] === name) ??
    words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
  const variable = isObject(env) ? env.VOICE_AGENT_BASE_URL : undefined
  const address = flag('--base-url') ?? variable
  if (flag('--config') !== undefined) return 'with a file of settings'
  if (client.secret.kind === 'inherited' && address === undefined) return 'with its own environment'
  if (address === undefined) return 'on the sandbox: its entry names no platform'
  return `for ${URL.parse(String(address))?.origin ?? 'an address of its own'}`
}

/** A file that the entry names to start the server and that is not there. */
function missingFile({ client, entry }: FoundClient): string | undefined {
  if (!isObject(entry)) return undefined
  const args = Array.isArray(entry.args) ? entry.args : []
  return [entry[client.form.command], args[0]]
    .filter((part) => typeof part === 'string')
    .find((part) => isAbsolute(part) && !existsSync(part))
}
