import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import * as z from 'zod'
import { Faults } from '../sandbox/faults.ts'
import { openSandbox, type SandboxOptions } from '../sandbox/sandbox.ts'
import { type Listening, listen } from '../transports/listen.ts'

/** The faults file cannot be used; the message says what is wrong with it. */
class FaultsError extends Error {
  override readonly name = 'FaultsError'
}

/**
 * Serves the sandbox as the platform's REST API. Throws StoreError, ListenError and FaultsError.
 */
export async function startSandbox(options: {
  host: string
  port: number
  sandbox: Omit<SandboxOptions, 'llm'> & { llm: SandboxOptions['llm'] | undefined }
  faultsFile: string | undefined
  onBug: (error: unknown) => void
}): Promise<Listening> {
  const { faultsFile, onBug } = options
  const { llm, ...rest } = options.sandbox
  const sandbox = openSandbox({
    ...rest,
    onBug,
    ...(llm && { llm }),
    ...(faultsFile && { faults: readFaults(faultsFile) }),
  })
  const answer = async (request: Request, { outgoing }: HttpBindings) => {
    const response = await sandbox.fetch(request)
    if (response.type !== 'error') return response
    // The web's way to say that there is no answer: the connection is simply gone.
    outgoing.destroy()
    return RESPONSE_ALREADY_SENT
  }
  const listener = getRequestListener((request, env) => answer(request, env as HttpBindings))
  const listening = await listen(createServer(listener), options)
  return {
    ...listening,
    async close() {
      await listening.close()
      sandbox.close()
    },
  }
}

function readFaults(file: string): Faults {
  try {
    const parsed = Faults.safeParse(JSON.parse(readFileSync(file, 'utf8')))
    if (parsed.success) return parsed.data
    throw new Error(z.prettifyError(parsed.error))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new FaultsError(`The faults file ${file} cannot be used: ${reason}`)
  }
}
