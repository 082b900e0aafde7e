import type { Readiness } from '../../transports/http-probes.ts'

/** What a request has to bring, besides the address. */
export type Access =
  /** Nothing: it is the sandbox. */
  | 'none'
  /** An API key of the platform. */
  | 'key'
  /** The local token of this server, or an API key. */
  | 'local_token'
  /** Clients get a token by OAuth; an API key works, too. */
  | 'oauth'

/** How one client is connected. */
export interface ClientSteps {
  readonly id: string
  readonly title: string
  /** What to run in a terminal, where the client has a command. */
  readonly command: string | undefined
  /** Opens the client with the question whether to install. */
  readonly link: string | undefined
  /** The text of its configuration file, and where that is; `undefined`: it is done in its settings. */
  readonly file: { readonly path: string; readonly text: string } | undefined
  /** What makes it read its file again. */
  readonly restart: string
}

/** What the page shows. There is no secret in it. */
export interface StartPageModel {
  readonly version: string
  readonly isSandbox: boolean
  readonly readiness: Readiness
  /** The address of MCP, as this browser reaches it. */
  readonly url: string
  readonly access: Access
  readonly clients: readonly ClientSteps[]
}
