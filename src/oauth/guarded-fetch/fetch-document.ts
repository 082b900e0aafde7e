import type { Dispatcher } from 'undici'
import { FetchRefusal, type FetchRefusalCode } from './fetch-refusal.ts'

interface FetchBounds {
  readonly dispatcher: Dispatcher
  readonly mostBytes: number
  readonly signal: AbortSignal
}

/** One GET of a JSON document; redirects are not followed. */
export async function fetchDocument(url: URL, bounds: FetchBounds): Promise<Response> {
  const { dispatcher, mostBytes, signal } = bounds
  try {
    const reply = await dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'GET',
      headers: { accept: 'application/json', 'user-agent': 'voice-agent-mcp' },
      signal,
    })
    const flaw = flawOf(reply, mostBytes)
    if (!flaw) return await documentOf(reply)
    // The body is not read; the connection is closed.
    reply.body.on('error', () => undefined).destroy()
    throw new FetchRefusal(flaw.code, `${url.host} ${flaw.text}.`)
  } catch (error) {
    throw refusalOf(error, url.host, signal)
  }
}

const isJson = /^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i

/** Why a reply is no document, as far as its headers show it. */
function flawOf(
  { statusCode, headers }: Dispatcher.ResponseData,
  mostBytes: number,
): { readonly code: FetchRefusalCode; readonly text: string } | undefined {
  if (statusCode !== 200) {
    return { code: 'status', text: `answered with status ${statusCode}, not 200` }
  }
  if (
    !isJson.test(headerText(headers, 'content-type')) ||
    headerText(headers, 'content-encoding')
  ) {
    return { code: 'not_json', text: 'answered with something else than plain JSON' }
  }
  return Number(headerText(headers, 'content-length')) > mostBytes ? tooLarge : undefined
}

const tooLarge = { code: 'too_large', text: 'answered with a document that is too large' } as const

const headerText = (headers: Dispatcher.ResponseData['headers'], name: string): string =>
  [headers[name] ?? []].flat().join(', ')

/** The reply with its whole body, and with the headers that say how long it may be kept. */
async function documentOf({ headers, body }: Dispatcher.ResponseData): Promise<Response> {
  const kept = ['content-type', 'cache-control', 'expires']
    .map((name): [string, string] => [name, headerText(headers, name)])
    .filter(([, text]) => text)
  return new Response(await body.arrayBuffer(), { headers: Object.fromEntries(kept) })
}

/** A failure of the network, as a refusal; another error is a defect of this program and stays one. */
function refusalOf(error: unknown, host: string, signal: AbortSignal): unknown {
  const chain = causes(error)
  const refusal = chain.find((cause) => cause instanceof FetchRefusal)
  if (refusal) return refusal
  const refuse = (code: FetchRefusalCode, text: string) =>
    new FetchRefusal(code, `${host} ${text}.`, { cause: error })
  if (signal.aborted) return refuse('too_slow', 'took too long')
  const code = chain.map(codeOf).find(Boolean)
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return refuse(tooLarge.code, tooLarge.text)
  if (!code || ourCodes.test(code)) return error
  return refuse('unreachable', 'could not be reached')
}

/** Codes of errors that are not of a network. */
const ourCodes = /^(UND_ERR_INVALID_ARG|ERR_(?!TLS|SSL))/

/** An error and what caused it; several connections that failed together are in one error. */
function causes(error: unknown): Error[] {
  if (!(error instanceof Error)) return []
  const others: unknown[] = error instanceof AggregateError ? error.errors : [error.cause]
  return [error, ...others.flatMap(causes)]
}

const codeOf = (error: Error): string | undefined =>
  'code' in error && typeof error.code === 'string' ? error.code : undefined
