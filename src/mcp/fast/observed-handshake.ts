import * as z from 'zod'
import type { Observer } from '../../observe/observer.ts'
import { metaKeys } from '../protocol/envelope.ts'
import { RequestId } from '../protocol/json-rpc.ts'
import type { StdioHandshake } from './stdio-handshake.ts'

/** As much of a request that the handshake has answered as is recorded. */
const Answered = z.object({
  method: z.string(),
  id: RequestId,
  params: z
    .object({
      protocolVersion: z.string().optional(),
      _meta: z.looseObject({ [metaKeys.protocolVersion]: z.string().optional() }).default({}),
    })
    .optional(),
})

/** The same handshake; the requests that it answers are recorded. */
export const observedHandshake =
  (handshake: StdioHandshake, observer: Observer): StdioHandshake =>
  (message) => {
    const reply = handshake(message)
    if (reply?.text === undefined) return reply
    const { method, id, params } = Answered.parse(message)
    const meta = params?._meta ?? {}
    const revision = params?.protocolVersion ?? meta[metaKeys.protocolVersion]
    observer.requestEnded(
      {
        ...{ method, id, revision, owner: undefined, transport: 'stdio' },
        traceContext: { meta, header: () => undefined },
      },
      { outcome: 'ok' },
    )
    return reply
  }
