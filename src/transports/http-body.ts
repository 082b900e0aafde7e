import type { IncomingMessage } from 'node:http'
import { DEFAULT_MAX_REQUEST_BODY_SIZE as longestRequest } from '@modelcontextprotocol/server'

/** The bytes of a request; `undefined` when they are too many. Throws when the client breaks off. */
export function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= longestRequest) return void chunks.push(chunk)
      request.pause()
      resolve(undefined)
    })
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
    request.once('error', reject)
  })
}

/** A JSON text as data; `undefined` when it is none. */
export function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
