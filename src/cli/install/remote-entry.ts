import { changedText } from './checked-change.ts'
import type { Client } from './clients.ts'
import { cursorLink, vsCodeLink } from './one-click-links.ts'
import { keyInput } from './server-entry.ts'
import type { PlainValue } from './text-format.ts'

/** A server on the network, as clients are told of it. */
export interface RemoteServer {
  /** Its name in the client's file. */
  readonly name: string
  /** The address of MCP. */
  readonly url: string
  /** What a request has to bring, with a text in place of the secret; `undefined`: nothing. */
  readonly header: { readonly name: string; readonly value: string } | undefined
}

/** How one client connects. */
export interface RemoteInstall {
  /** What its file holds then, if it holds no other server. */
  readonly text: string
  /** Opens the client with the question whether to install; `undefined`: it has no such links. */
  readonly link: string | undefined
}

/** How a client connects to a server on the network; `undefined`: not by its file. */
export function remoteInstall(
  { format, servers, remote, secret, linkScheme }: Client,
  { name, url, header }: RemoteServer,
): RemoteInstall | undefined {
  if (!remote) return undefined
  // What the client asks for is in no file and in no link.
  const asked = header && secret.kind === 'prompt' ? keyInput(name) : undefined
  const value = asked?.reference ?? header?.value
  const entry: Readonly<Record<string, PlainValue>> = {
    ...remote.fixed(name),
    [remote.url]: url,
    ...(header && value !== undefined && { [remote.headers]: { [header.name]: value } }),
  }
  const inputs = asked ? [asked.input] : []
  const { text } = changedText(format, '', [
    ...inputs.map((input) => ({ set: ['inputs', 0], value: input })),
    { set: [servers, name], value: entry },
  ])
  const linked = { name, entry, inputs }
  return {
    text,
    link:
      linkScheme && (linkScheme === 'cursor' ? cursorLink(linked) : vsCodeLink(linked, linkScheme)),
  }
}
