import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { TLSSocket } from 'node:tls'
import { isObject } from '../../json/is-object.ts'

/** A connection as it was made. */
export interface Connection {
  readonly host: string
  readonly address: string | undefined
  readonly tls: TlsFacts | undefined
}

interface TlsFacts {
  /** Such as `TLSv1.3`. */
  readonly protocol: string
  /** Who has signed the certificate. */
  readonly issuer: string
  /** Until when the certificate is valid, ms since 1970. */
  readonly validUntil: number
}

/** The connections that the HTTP client of this process makes. */
export interface Connections {
  readonly made: readonly Connection[]
  /** Hosts to which no connection could be made. */
  readonly failed: readonly string[]
  stop(): void
}

/**
 * undici reports its connections on channels of Node.js. So a check sees the ones that requests use,
 * also those through a proxy, and makes none of its own.
 */
export function watchConnections(): Connections {
  const made: Connection[] = []
  const failed: string[] = []
  const onConnected = (message: unknown) => {
    const socket = isObject(message) ? message.socket : undefined
    const address = isObject(socket) ? socket.remoteAddress : undefined
    made.push({
      host: hostOf(message),
      address: typeof address === 'string' ? address : undefined,
      tls: socket instanceof TLSSocket ? tlsFacts(socket) : undefined,
    })
  }
  const onFailed = (message: unknown) => void failed.push(hostOf(message))
  subscribe('undici:client:connected', onConnected)
  subscribe('undici:client:connectError', onFailed)
  return {
    made,
    failed,
    stop() {
      unsubscribe('undici:client:connected', onConnected)
      unsubscribe('undici:client:connectError', onFailed)
    },
  }
}

function hostOf(message: unknown): string {
  const params = isObject(message) ? message.connectParams : undefined
  return isObject(params) ? String(params.hostname) : ''
}

/** A connection that takes up an earlier one has no certificate of its own. */
function tlsFacts(socket: TLSSocket): TlsFacts | undefined {
  const { issuer, valid_to } = socket.getPeerCertificate()
  const validUntil = Date.parse(valid_to)
  if (Number.isNaN(validUntil)) return undefined
  return {
    protocol: socket.getProtocol() ?? 'TLS',
    issuer: [issuer.O ?? issuer.CN ?? 'unknown'].flat().join(', '),
    validUntil,
  }
}
