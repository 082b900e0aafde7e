import type { PlatformConfig } from '../cli/config/platform.ts'
import type { SandboxConfig } from '../cli/config/sandbox.ts'
import { errorCodes } from '../contract/error.ts'
import { SendFailure } from '../platform/failure.ts'
import type { Send } from '../platform/http-exchange.ts'
import type { Credential } from '../platform/sessions/credential.ts'
import { messageOf } from '../text/safe-text.ts'

/** The platform that this server uses: over the network, or the built-in sandbox. */
export interface Platform {
  readonly send: Send
  /** Identifies the platform: its origin and base path, or `sandbox`. */
  readonly address: string
  /** The server's own API key, for requests without a key. */
  readonly credential: Credential | undefined
  /**
   * Opens what the first request would open, such as the sandbox's database. Rejects on failure.
   */
  prepare(): Promise<void>
  /** Serves the page of a web call; sandbox only. */
  readonly showWebCall?: (request: Request) => Promise<Response>
  close(): Promise<void>
}

/** Returns the origin of the sandbox's web call pages; `undefined` if no server serves them. */
type PagesAt = () => string | undefined | Promise<string | undefined>

/**
 * Opens the platform. All code for its requests is loaded now, because an update may delete the
 * files while the server runs. The sandbox's database opens with the first request.
 */
export async function openPlatform(
  config: PlatformConfig,
  onBug: (error: unknown) => void,
  webCallPagesAt?: PagesAt,
): Promise<Platform> {
  return config.kind === 'sandbox'
    ? openSandboxPlatform(config, onBug, webCallPagesAt)
    : openNetworkPlatform(config)
}

async function openNetworkPlatform(
  config: Extract<PlatformConfig, { kind: 'network' }>,
): Promise<Platform> {
  const { createNetworkSender } = await import('../platform/network-sender.ts')
  const { apiKey } = config
  return {
    ...createNetworkSender(config),
    prepare: async () => undefined,
    credential: apiKey === undefined ? undefined : { apiKey, source: 'VOICE_AGENT_API_KEY' },
  }
}

/** API key of the sandbox's own account. Valid nowhere else. */
const sandboxCredential = { apiKey: 'sandbox-key', source: 'the built-in sandbox' }

async function openSandboxPlatform(
  config: SandboxConfig,
  onBug: (error: unknown) => void,
  webCallPagesAt: PagesAt | undefined,
): Promise<Platform> {
  const { openSandbox } = await import('../sandbox/sandbox.ts')
  let opened: ReturnType<typeof openSandbox> | undefined
  const open = () => {
    opened ??= openSandbox({
      ...config,
      onBug,
      ...(webCallPagesAt && { webCalls: { pagesAt: webCallPagesAt, waitMs: config.webWaitMs } }),
    })
    return opened
  }
  return {
    address: 'sandbox',
    credential: sandboxCredential,
    async prepare() {
      open()
    },
    async send(request) {
      if (request.beforeSending) {
        await request.beforeSending()
        if (request.signal?.aborted) throw new SendFailure({ kind: 'cancelled', maybeSent: false })
      }
      try {
        const { method, target, headers, body } = request
        const url = new URL(target, 'http://sandbox')
        const init = { method, headers: { ...headers }, ...(body && { body }) }
        const response = await open().fetch(new Request(url, init))
        return {
          status: response.status,
          header: (name) => response.headers.get(name) ?? undefined,
          body: await response.text(),
        }
      } catch (error) {
        // Reports a database that cannot be opened as a failure of the platform.
        return failedReply(error)
      }
    },
    showWebCall: (request) => open().fetch(request),
    async close() {
      opened?.close()
    },
  }
}

function failedReply(error: unknown) {
  const message = messageOf(error)
  const envelope = { code: errorCodes[500], message, detail: null, errors: null }
  return { status: 500, header: () => undefined, body: JSON.stringify(envelope) }
}
