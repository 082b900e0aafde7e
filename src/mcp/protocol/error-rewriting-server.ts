import {
  type Implementation,
  Server,
  type ServerOptions,
  type Transport,
} from '@modelcontextprotocol/server'
import type { Era } from './envelope.ts'
import { messageForClient } from './protocol-error.ts'

/** The SDK's server; its errors are rewritten before they are sent. */
export class ErrorRewritingServer extends Server {
  readonly #era: Era

  constructor(info: Implementation, options: ServerOptions, era: Era) {
    super(info, options)
    this.#era = era
  }

  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => send(messageForClient(message, this.#era), options)
    await super.connect(transport)
  }
}
