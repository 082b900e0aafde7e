import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { openSandbox } from '../sandbox/sandbox.ts'
import { type Listening, listen } from '../transports/listen.ts'

/** Serves the sandbox as the platform's REST API. Throws StoreError and ListenError. */
export async function startSandbox(options: {
  host: string
  port: number
  file: string
  speed: number
}): Promise<Listening> {
  const sandbox = openSandbox(options)
  const listening = await listen(createServer(getRequestListener(sandbox.fetch)), options)
  return {
    ...listening,
    async close() {
      await listening.close()
      sandbox.close()
    },
  }
}
