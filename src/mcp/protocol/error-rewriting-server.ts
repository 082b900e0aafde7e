import {
  type Implementation,
  Server,
  type ServerOptions,
  type Transport,
} from '@modelcontextprotocol/server'
import { messageForClient } from './protocol-error.ts'

/** The SDK's server, whose errors are told as this server tells all errors. */
export class ErrorRewritingServer extends Server {
  readonly #era: 'modern' | '2025'

  constructor(info: Implementation, options: ServerOptions, era: 'modern' | '2025') {
    super(info, options)
    this.#era = era
  }

  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => send(messageForClient(message, this.#era), options)
    await super.connect(transport)
  }
}
