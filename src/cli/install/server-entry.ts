import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../text/json.ts'
import type { LaunchCommand } from '../config/launch-command.ts'
import type { Client } from './clients.ts'
import { changedText, type Path, type PlainValue, type Step, valueAt } from './config-text-edits.ts'

/** Environment variables of an entry that select the platform and the API key. */
const baseUrlVariable = 'VOICE_AGENT_BASE_URL'
const configVariable = 'VOICE_AGENT_CONFIG'
export const keyVariable = 'VOICE_AGENT_API_KEY'

/** Platform flags, which take precedence over the variables. */
const accountFlags = ['--base-url', '--api-key']

interface WantedServer {
  /** Name in the client's file. */
  readonly name: string
  readonly launch: LaunchCommand
  /** Base URL of the platform; `undefined`: the sandbox, or given by a configuration file. */
  readonly baseUrl: string | undefined
  /** Key to write in plain text; `undefined`: no key, or a reference. */
  readonly plainKey: string | undefined
  /** True if the user named no account. An existing entry then keeps its account. */
  readonly keepsAccount?: boolean
}

type Fields = Readonly<Record<string, PlainValue>>

/** Steps that add the server to the client's file; empty if it is up to date. */
export function stepsToAdd(client: Client, data: unknown, wanted: WantedServer): Step[] {
  const path = [client.servers, wanted.name]
  const existing = valueAt(data, path)
  const entry = entryOf(client, wanted)
  const inputs = client.secret.kind === 'prompt' ? inputSteps(data, wanted) : []
  if (existing === undefined) return [...inputs, { set: path, value: entry }]
  // The existing entry is of another kind, such as a remote server.
  if (!isObject(existing) || typeof existing[client.form.command] !== 'string') {
    return [...inputs, { remove: path }, { set: path, value: entry }]
  }
  const args = withFlags(entry.args, existing.args, wanted.keepsAccount ? [] : accountFlags)
  const keepsAccount =
    wanted.keepsAccount === true && namesPlatform(existing[client.form.env], args)
  const updated = { entry: { ...entry, args }, keepsAccount }
  return [...inputs, ...stepsToUpdate(client, path, existing, updated)]
}

/** A complete new entry. */
function entryOf({ form, secret }: Client, wanted: WantedServer): Fields {
  const { name, launch, baseUrl, plainKey } = wanted
  const isReferred = baseUrl !== undefined && plainKey === undefined
  const env = {
    ...launch.env,
    ...(baseUrl !== undefined && { [baseUrlVariable]: baseUrl }),
    ...(plainKey !== undefined && { [keyVariable]: plainKey }),
    ...(isReferred && secret.kind === 'reference' && { [keyVariable]: secret.text(keyVariable) }),
    ...(isReferred && secret.kind === 'prompt' && { [keyVariable]: keyInput(name).reference }),
  }
  return {
    ...form.fixed(name),
    [form.command]: launch.command,
    args: launch.args,
    ...(Object.keys(env).length > 0 && { [form.env]: env }),
    ...(isReferred && secret.kind === 'listed' && { [secret.field]: [keyVariable] }),
  }
}

/**
 * Steps that change only this program's fields. Fields and variables that users have added stay.
 * Earlier server flags also stay, because they may be restrictions such as --read-only. Flags of an
 * earlier account are removed.
 */
function stepsToUpdate(
  { form, secret }: Client,
  path: Path,
  existing: Readonly<Record<string, unknown>>,
  { entry, keepsAccount }: { entry: Fields; keepsAccount: boolean },
): Step[] {
  const steps = [form.command, 'args', 'type'].flatMap((field) => {
    const value = entry[field]
    if (value === undefined || isDeepStrictEqual(existing[field], value)) return []
    return [{ set: [...path, field], value }]
  })
  const env = envSteps([...path, form.env], existing[form.env], entry[form.env])
  if (keepsAccount) return [...steps, ...env.filter((step) => 'set' in step)]
  const list = secret.kind === 'listed' ? listSteps(path, secret.field, existing, entry) : []
  return [...steps, ...env, ...list]
}

/**
 * True if variables or flags name the platform, or a configuration file, which may name the
 * platform.
 */
const namesPlatform = (env: unknown, args: readonly PlainValue[]): boolean =>
  (isObject(env) && (baseUrlVariable in env || configVariable in env)) ||
  args.some((arg) => typeof arg === 'string' && /^--(?:base-url|config)(?:=|$)/.test(arg))

/**
 * Arguments of an updated entry: those that start the program, then the earlier flags that are
 * neither overridden nor in `dropped`.
 */
function withFlags(after: PlainValue | undefined, before: unknown, dropped: string[]) {
  const args: readonly PlainValue[] = Array.isArray(after) ? after : []
  const replaced = new Set([...dropped, ...flagsIn(args).map(({ flag }) => flag)])
  const kept = flagsIn(before).filter(({ flag }) => !replaced.has(flag))
  return [...args, ...kept.flatMap(({ words }) => words)]
}

/** Flags among arguments. `words`: the flag and its value as given. */
function flagsIn(args: unknown): { readonly flag: string; readonly words: string[] }[] {
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === 'string')) return []
  const flags: { flag: string; words: string[] }[] = []
  for (const arg of args) {
    const flag = /^--[^=]*/.exec(arg)?.[0]
    if (flag === undefined) flags.at(-1)?.words.push(arg)
    else flags.push({ flag, words: [arg] })
  }
  return flags
}

/** Steps that set variables, and remove those of an earlier account. */
function envSteps(path: Path, existing: unknown, wanted: PlainValue | undefined): Step[] {
  const before = isObject(existing) ? existing : {}
  const after: Fields = isObject(wanted) ? (wanted as Fields) : {}
  if (!isObject(existing)) return isObject(wanted) ? [{ set: path, value: after }] : []
  const set = Object.entries(after)
    .filter(([name, value]) => before[name] !== value)
    .map(([name, value]): Step => ({ set: [...path, name], value }))
  const gone = [baseUrlVariable, keyVariable]
    .filter((name) => Object.hasOwn(before, name) && !Object.hasOwn(after, name))
    .map((name): Step => ({ remove: [...path, name] }))
  return [...gone, ...set]
}

/**
 * Steps that add the API key's variable to the list of inherited variables, or remove it. Other
 * variables stay.
 */
function listSteps(
  path: Path,
  field: string,
  existing: Readonly<Record<string, unknown>>,
  entry: Fields,
): Step[] {
  const before = existing[field]
  const names = Array.isArray(before) ? (before as readonly PlainValue[]) : []
  const others = names.filter((name) => name !== keyVariable)
  const after = entry[field] === undefined ? others : [...others, keyVariable]
  if (names.length === after.length) return []
  return [{ set: [...path, field], value: after }]
}

const inputId = (name: string) => `${name}-api-key`

/** Input that VS Code prompts for and stores, and its reference in an entry. */
const keyInput = (name: string) => ({
  reference: `\${input:${inputId(name)}}`,
  input: {
    type: 'promptString',
    id: inputId(name),
    description: `API key of the voice-agent platform (${name})`,
    password: true,
  },
})

/** VS Code only: the list of inputs is at the top level of the file, beside the servers. */
function inputSteps(data: unknown, { name, baseUrl, plainKey }: WantedServer): Step[] {
  if (baseUrl === undefined || plainKey !== undefined) return []
  const inputs = valueAt(data, ['inputs'])
  const index = inputIndex(inputs, name)
  if (index >= 0) return []
  const value = keyInput(name).input
  return [{ set: ['inputs', Array.isArray(inputs) ? inputs.length : 0], value }]
}

const inputIndex = (inputs: unknown, name: string): number =>
  Array.isArray(inputs)
    ? inputs.findIndex((one: unknown) => isObject(one) && one.id === inputId(name))
    : -1

/** Steps that remove the server from the client's file; empty if it is not in it. */
export function stepsToRemove(client: Client, data: unknown, name: string): Step[] {
  const path = [client.servers, name]
  if (valueAt(data, path) === undefined) return []
  const inputs = valueAt(data, ['inputs'])
  const index = client.secret.kind === 'prompt' ? inputIndex(inputs, name) : -1
  const servers = valueAt(data, [client.servers])
  const others = isObject(servers) ? { ...servers, [name]: undefined } : {}
  const isUsed = JSON.stringify(others).includes(`\${input:${inputId(name)}}`)
  return [
    { remove: path },
    ...(index >= 0 && !isUsed ? [{ remove: ['inputs', index] } satisfies Step] : []),
  ]
}

/** A remote server, for clients. */
export interface RemoteServer {
  /** Name in the client's file. */
  readonly name: string
  /** URL of the MCP endpoint. */
  readonly url: string
  /** Header that requests need, with a placeholder for the secret; `undefined`: none. */
  readonly header: { readonly name: string; readonly value: string } | undefined
}

/** Setup of a remote server in one client. */
export interface RemoteInstall {
  /** Text of the client's file, if the file has no other server. */
  readonly text: string
  /** Install link; `undefined`: the client has none. */
  readonly link: string | undefined
}

/** Returns the setup of a remote server in a client; `undefined`: its file supports none. */
export function remoteInstall(
  { format, servers, remote, secret, linkScheme }: Client,
  { name, url, header }: RemoteServer,
): RemoteInstall | undefined {
  if (!remote) return undefined
  // A prompted secret is in no file and no link.
  const asked = header && secret.kind === 'prompt' ? keyInput(name) : undefined
  const value = asked?.reference ?? header?.value
  const entry: Fields = {
    ...remote.fixed(name),
    [remote.url]: url,
    ...(header && value !== undefined && { [remote.headers]: { [header.name]: value } }),
  }
  const inputs = asked ? [asked.input] : []
  const { text } = changedText(format, '', [
    ...inputs.map((input) => ({ set: ['inputs', 0], value: input })),
    { set: [servers, name], value: entry },
  ])
  if (linkScheme === undefined) return { text, link: undefined }
  if (linkScheme === 'cursor') return { text, link: cursorLink(name, entry) }
  // VS Code prompts for the inputs, such as a key, and stores them; the entry refers to them as
  // ${input:id}.
  return { text, link: vsCodeLink({ name, ...(asked && { inputs }), ...entry }, linkScheme) }
}

/** Install link of VS Code (https://code.visualstudio.com/api/extension-guides/ai/mcp). */
const vsCodeLink = (server: Fields, scheme: 'vscode' | 'vscode-insiders'): string =>
  `${scheme}:mcp/install?${encodeURIComponent(JSON.stringify(server))}`

/** Install link of Cursor (https://cursor.com/docs/mcp/install-links). It cannot prompt for keys. */
const cursorLink = (name: string, entry: Fields): string =>
  `cursor://anysphere.cursor-deeplink/mcp/install?${cursorQuery(name, entry)}`

/** Query of Cursor's links, with the entry in base64. */
export const cursorQuery = (name: string, entry: PlainValue): URLSearchParams =>
  new URLSearchParams({ name, config: Buffer.from(JSON.stringify(entry)).toString('base64') })
