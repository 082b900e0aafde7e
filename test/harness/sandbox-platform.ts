import { json, type SeenRequest, startFakePlatform } from './fake-platform.ts'
import { sandboxKeys, startSandbox } from './sandbox.ts'

/**
 * Fault of a request: its connection is closed before or after it is processed, it is refused with
 * a status, or it is processed with another body. `undefined`: no fault.
 */
export type Fate =
  | 'lost before'
  | 'lost after'
  | { readonly status: number }
  | { readonly body: string }
  | undefined

/** A second key of the sandbox's first account. */
export const secondKey = 'sk-second-key-of-main'

/** The sandbox as a platform over HTTP. The test decides the fate of each request. */
export async function startSandboxPlatform() {
  const sandbox = startSandbox()
  let fate: (request: SeenRequest) => Fate | Promise<Fate> = () => undefined
  const platform = await startFakePlatform(async (request, response) => {
    const { method, url, headers } = request
    const is = await fate(request)
    if (is === 'lost before') return void response.destroy()
    if (typeof is === 'object' && 'status' in is)
      return json(response, is.status, { code: 'error', message: 'No.' })
    const body = typeof is === 'object' ? is.body : request.body
    const given = String(headers['x-api-key'])
    const reply = await sandbox.fetch(
      new Request(`http://sandbox${url}`, {
        method,
        headers: {
          'x-api-key': given === secondKey ? sandboxKeys.main : given,
          'content-type': 'application/json',
        },
        ...(body !== '' && { body }),
      }),
    )
    if (is === 'lost after') return void response.destroy()
    const text = await reply.text()
    json(response, reply.status, text && JSON.parse(text))
  })
  return {
    platform,
    sandbox,
    env: (key: string = sandboxKeys.main) => ({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_API_KEY: key,
    }),
    decide: (next: typeof fate) => {
      fate = next
    },
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]()
      sandbox[Symbol.dispose]()
    },
  }
}
