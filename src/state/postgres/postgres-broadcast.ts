import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import type { Client } from 'pg'
import * as z from 'zod'
import {
  type AnnouncementKind,
  announcementKinds,
  type Broadcast,
  Listeners,
} from '../broadcast.ts'
import { type Database, timeouts } from './database.ts'
import { applicationName } from './schema.ts'

/** Channel of LISTEN and NOTIFY. PostgreSQL delivers a notice only within its database. */
const channel = 'voice_agent_mcp_changes'

const Notice = z.object({
  /** The announcing server. It has already notified its own listeners. */
  from: z.string(),
  kind: z.enum(announcementKinds),
  topic: z.string().max(200),
})

/** Pause before reconnecting, ms. Doubles with each failure, up to the longest pause. */
const firstPauseMs = 1000
const longestPauseMs = 15_000

/** Interval of connection checks, ms. A lost connection reports no error by itself. */
const checkEveryMs = 15_000

/**
 * Announces events to all servers of a database with LISTEN and NOTIFY. A disconnected server
 * misses events.
 */
export function createPostgresBroadcast(url: string, { run }: Pick<Database, 'run'>): Broadcast {
  const self = randomUUID()
  const listeners = new Listeners<AnnouncementKind>()
  const hear = (payload: string | undefined) => {
    const notice = noticeIn(payload)
    if (notice && notice.from !== self) listeners.notify(notice.kind, notice.topic)
  }
  let connection: ListeningConnection | undefined
  return {
    announce(event) {
      listeners.notify(event.kind, event.topic)
      const payload = JSON.stringify({ from: self, ...event })
      run(z.unknown(), `SELECT pg_notify('${channel}', $1)`, [payload]).catch(ignore)
    },
    listen(kind, listener) {
      connection ??= new ListeningConnection(url, hear)
      return listeners.add(kind, listener)
    },
    close: async () => connection?.close(),
  }
}

const ignore = () => undefined

/**
 * Parses a notice; `undefined` if it is malformed, because anybody with access to the database can
 * send notices.
 */
function noticeIn(payload: string | undefined): z.output<typeof Notice> | undefined {
  try {
    return Notice.safeParse(JSON.parse(payload ?? '')).data
  } catch {
    return undefined
  }
}

/** A connection that receives notices and reconnects after a failure. */
class ListeningConnection {
  readonly #url: string
  readonly #onNotice: (payload: string | undefined) => void
  #client: Client | undefined
  #socket: Socket | undefined
  #timer: NodeJS.Timeout | undefined
  #pauseMs = firstPauseMs
  #isClosed = false

  constructor(url: string, onNotice: (payload: string | undefined) => void) {
    this.#url = url
    this.#onNotice = onNotice
    void this.#connect()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#socket?.destroy()
  }

  async #connect(): Promise<void> {
    let client: Client | undefined
    try {
      client = await this.#newClient()
      if (this.#isClosed) return
      this.#client = client
      await client.connect()
      await client.query(`LISTEN ${channel}`)
      this.#pauseMs = firstPauseMs
      this.#checkLater(client)
    } catch {
      this.#connectLater(client)
    }
  }

  async #newClient(): Promise<Client> {
    const { default: pg } = await import('pg')
    // The socket does not keep an idle process alive.
    const socket = new Socket().unref()
    this.#socket = socket
    const client = new pg.Client({
      stream: () => socket,
      connectionString: this.#url,
      application_name: applicationName,
      connectionTimeoutMillis: timeouts.connection,
      query_timeout: timeouts.connection,
      keepAlive: true,
    })
    client.on('error', ignore)
    client.once('end', () => this.#connectLater(client))
    client.on('notification', ({ payload }) => this.#onNotice(payload))
    return client
  }

  #checkLater(client: Client): void {
    this.#wait(checkEveryMs, async () => {
      try {
        await client.query('SELECT 1')
        if (client === this.#client) this.#checkLater(client)
      } catch {
        this.#connectLater(client)
      }
    })
  }

  /** Drops a broken connection once, whichever event reports it first. Reconnects later. */
  #connectLater(client: Client | undefined): void {
    if (client !== this.#client || this.#isClosed) return
    this.#client = undefined
    // `end` would wait for the peer of a lost connection, which does not answer.
    this.#socket?.destroy()
    // Jitter keeps servers from reconnecting at the same time.
    this.#wait(this.#pauseMs * (0.5 + Math.random()), () => this.#connect())
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs)
  }

  #wait(ms: number, work: () => Promise<void>): void {
    clearTimeout(this.#timer)
    if (this.#isClosed) return
    this.#timer = setTimeout(() => void work(), ms).unref()
  }
}
