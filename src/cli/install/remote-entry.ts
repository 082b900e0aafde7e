import type { Client } from './clients.ts'
import { changedText, type PlainValue } from './config-text-edits.ts'
import { type Fields, keyInput } from './server-entry.ts'

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
