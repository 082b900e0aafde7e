import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Failure, TimedOut } from '../../platform/failure.ts'
import { addressOf } from '../../platform/network-sender.ts'
import type { WireReply } from '../../platform/reply.ts'
import type { Environment } from '../config/given-settings.ts'
import {
  type Check,
  checkNamed,
  type Finding,
  green,
  red,
  seeOther,
  skipped,
  yellow,
} from './findings.ts'
import {
  type Answer,
  failedStage,
  hostOf,
  type PlatformSession,
  usesProxy,
} from './platform-session.ts'

/** Checks that the API answers at the base URL. */
export const platformCheck = (session: PlatformSession): Check =>
  checkNamed('platform', async () => {
    const { failure, reply } = await session.first
    const stage = await failedStage(session)
    if (stage === undefined)
      return green(`The API answers at ${addressOf(session.config.baseUrl)}.`)
    return stage === 'platform' && failure
      ? platformFailure(session, failure, reply)
      : seeOther(stage)
  })

/** Path of the first request, whose result all checks share. */
const firstPath = '/v1/accounts/current'

async function platformFailure(
  session: PlatformSession,
  failure: Failure,
  reply: WireReply | undefined,
): Promise<Finding> {
  const address = addressOf(session.config.baseUrl)
  switch (failure.kind) {
    case 'network':
      return unreachable(address, failure.code)
    case 'timeout':
      return late(address, failure)
    case 'redirected':
      return red(
        `${address} redirects to ${failure.origin || 'no usable address'} (HTTP ${failure.status}), which is not followed: the key is sent nowhere else.`,
        'If the API is there, set VOICE_AGENT_BASE_URL to that address.',
      )
    default:
      return otherAnswer(session, failure, reply)
  }
}

function late(address: string, { waitingFor, afterMs }: TimedOut): Finding {
  const time = `within ${Math.round(afterMs / 100) / 10} s`
  return waitingFor === 'headers'
    ? red(
        `${address} did not answer ${time}.`,
        'Check the network and the address. For a slow platform, raise --headers-timeout.',
      )
    : red(
        `${address} began to answer, but its answer did not end ${time}.`,
        'Check the network, and any proxy between. For a slow platform, raise --timeout.',
      )
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at that port',
  ECONNRESET: 'it closes the connection',
  UND_ERR_SOCKET: 'it closes the connection',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer in time',
  ENETUNREACH: 'this machine has no way to that network',
  EHOSTUNREACH: 'this machine has no way to that host',
  NO_HTTP: 'what answers does not speak HTTP',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of its answer do not end',
}

function unreachable(address: string, code: string): Finding {
  const reason = reasons[code]
  return red(
    `${address} cannot be reached${reason === undefined ? '' : `: ${reason}`} (${code}).`,
    'Check the host and the port in VOICE_AGENT_BASE_URL, the network, and any firewall between.',
  )
}

/** Finding for a reply that does not come from the API. */
async function otherAnswer(
  session: PlatformSession,
  failure: Failure,
  reply: WireReply | undefined,
): Promise<Finding> {
  const status = reply?.status ?? 0
  const what = reply ? answerInWords(reply) : unreadableInWords(failure)
  // A gateway in front of the API may send 5xx and 429 itself.
  if (status >= 500 || status === 429) {
    return red(
      `${addressOf(session.config.baseUrl)} answers, but fails: ${what}.`,
      'Try again in a minute. If it persists, ask the operator of the platform.',
    )
  }
  const found = await findApi(session)
  return red(
    `${addressOf(session.config.baseUrl)} has no such API: ${firstPath} answers ${what}.`,
    found === undefined
      ? 'Correct VOICE_AGENT_BASE_URL: the address before /v1, as the documents of the platform give it.'
      : `Set VOICE_AGENT_BASE_URL to ${found} (the API seems to be there).`,
  )
}

/** Describes a reply that cannot be used: not text, or too long. */
const unreadableInWords = (failure: Failure): string =>
  failure.kind === 'unreadable'
    ? `HTTP ${failure.status} with a reply that cannot be read (${failure.reason})`
    : failure.kind

/** Describes a reply, to help identify the answering server. */
function answerInWords(reply: WireReply): string {
  const { status, body } = reply
  const [, title] = /<title[^>]*>\s*([^<]{1,80})/i.exec(body) ?? []
  const [type = 'no type'] = (reply.header('content-type') ?? '').split(';').filter(Boolean)
  const server = reply.header('server')
  const facts = [
    type,
    title && `title "${title.trim()}"`,
    server && `server ${server.slice(0, 60)}`,
  ].filter(Boolean)
  return `HTTP ${status} (${facts.join(', ')})`
}

/**
 * Looks for the API at other paths of the same host, without sending the API key. A path is the
 * API's if it answers 401 in JSON. Returns its URL.
 */
async function findApi(session: PlatformSession): Promise<string | undefined> {
  const { baseUrl } = session.config
  const parts = baseUrl.pathname.split('/').filter(Boolean)
  const above = parts.map((_, length) => parts.slice(0, length))
  const candidates = [...above, ...[...above, parts].map((path) => [...path, 'api'])]
    .map((path) => path.join('/'))
    .slice(0, 6)
  const answers = await Promise.all(
    [...new Set(candidates)].map(async (path) => {
      const url = new URL(`/${path}`, baseUrl)
      return { url, answer: await session.get(firstPath, url) }
    }),
  )
  const found = answers.find(({ answer }) => wantsKey(answer))
  return found && addressOf(found.url)
}

/** True for the API's answer to a request without an API key: 401 in JSON. */
const wantsKey = ({ value }: Answer<WireReply>) =>
  value?.status === 401 && /json/.test(value.header('content-type') ?? '')

/** Checks of the connection: DNS, proxy, certificate and latency. */
export const networkChecks = (session: PlatformSession, env: Environment): Check[] => [
  checkNamed('dns', () => dns(session)),
  checkNamed('proxy', () => proxy(session, env)),
  checkNamed('tls', () => tls(session, env)),
  checkNamed('latency', () => latency(session)),
]

async function dns(session: PlatformSession): Promise<Finding> {
  const host = hostOf(session)
  if (isIP(host)) return green(`Not needed: ${host} is an address.`)
  const found = await lookup(host, { all: true }).catch((error: NodeJS.ErrnoException) => error)
  if (!(found instanceof Error)) {
    return green(`${host} is ${found.map(({ address }) => address).join(', ')}.`)
  }
  await session.first
  if (usesProxy(session)) return green(`The proxy looks ${host} up; this machine does not know it.`)
  const isAway = found.code === 'EAI_AGAIN'
  return red(
    isAway
      ? `No name server answers, so ${host} cannot be found (${found.code}).`
      : `There is no host ${host} (${found.code}).`,
    isAway
      ? 'Check the network connection. Where a proxy is needed, set HTTPS_PROXY.'
      : 'Correct the host in VOICE_AGENT_BASE_URL. Where only a proxy knows it, set HTTPS_PROXY.',
  )
}

async function proxy(session: PlatformSession, env: Environment): Promise<Finding> {
  const { failure } = await session.first
  const stage = await failedStage(session)
  const { proxy: configured } = session.config
  if (!configured) return noProxy(env, failure?.kind === 'network' && stage !== 'proxy')
  const { host } = new URL(configured.url)
  if (stage === 'proxy') {
    if (failure?.kind === 'timeout') return silentProxy(host, failure.afterMs)
    const code = failure?.kind === 'network' ? failure.code : ''
    return red(proxyFailure(host, code), proxyTodo(code))
  }
  return usesProxy(session)
    ? green(`${host} (HTTPS_PROXY) connects to the platform.`)
    : green('Not used: NO_PROXY excepts the platform.')
}

const silentProxy = (host: string, afterMs: number): Finding =>
  red(
    `The proxy ${host} can be reached, but has not connected to the platform within ${Math.round(afterMs / 100) / 10} s.`,
    'Check whether HTTPS_PROXY names a proxy, and whether that reaches the host of VOICE_AGENT_BASE_URL.',
  )

function proxyFailure(host: string, code: string): string {
  const [, status] = /^PROXY_(\d+)$/.exec(code) ?? []
  if (status === '407') return `The proxy ${host} asks for a user name and password (HTTP 407).`
  if (status !== undefined) {
    return `The proxy ${host} does not connect to the platform (HTTP ${status}).`
  }
  return `The proxy ${host} cannot be reached (${code}).`
}

function proxyTodo(code: string): string {
  if (code === 'PROXY_407') return 'Put them into HTTPS_PROXY: http://user:password@host:port.'
  return code.startsWith('PROXY_')
    ? 'Let the proxy allow the host of VOICE_AGENT_BASE_URL, or name the host in NO_PROXY.'
    : 'Correct HTTPS_PROXY, or unset it if this network needs no proxy.'
}

/** Proxy variables of other programs. This program ignores them. */
const otherVariables = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']

function noProxy(env: Environment, isUnreachable: boolean): Finding {
  const given = otherVariables.find((name) => env[name])
  if (given === undefined || !isUnreachable) return green('None.')
  return yellow(
    `None. ${given} is set, but the platform is reached by https, for which HTTPS_PROXY counts.`,
    'If this network needs a proxy, set HTTPS_PROXY.',
  )
}

const dayMs = 86_400_000

/** Remaining validity of a certificate below which the check warns, ms. */
const soonMs = 14 * dayMs

async function tls(session: PlatformSession, env: Environment): Promise<Finding> {
  if (session.config.baseUrl.protocol !== 'https:')
    return skipped('Not used: the platform is on this machine.')
  const stage = await failedStage(session)
  if (stage === 'tls') return tlsFailure((await session.first).failure)
  const host = hostOf(session)
  const own = session.connections.made.findLast((one) => one.host === host && one.tls)
  if (!own?.tls) return seeOther(stage ?? 'platform')
  const { protocol, issuer, validUntil } = own.tls
  const until = new Date(validUntil).toISOString().slice(0, 10)
  const text = `${protocol}; the certificate is from ${issuer}, and is valid until ${until}.`
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    return yellow(
      `${text} It is not checked: NODE_TLS_REJECT_UNAUTHORIZED is 0, so anybody on the way could read the API key.`,
      'Unset it. Name a certificate authority of your own with NODE_EXTRA_CA_CERTS.',
    )
  }
  return validUntil - Date.now() < soonMs
    ? yellow(text, 'Tell the operator of the platform that it ends soon.')
    : green(text)
}

function tlsFailure(failure: Failure | undefined): Finding {
  const code = failure?.kind === 'network' ? failure.code : ''
  if (code === 'CERT_HAS_EXPIRED') {
    return red(
      'The certificate of the platform has expired, or the clock of this machine is wrong.',
      'Check the clock (date). If it is right, tell the operator of the platform.',
    )
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return red(
      'The certificate is for another host than the one in VOICE_AGENT_BASE_URL.',
      'Correct VOICE_AGENT_BASE_URL. Never send the key to a host whose certificate is wrong.',
    )
  }
  if (/CERT|^UNABLE_TO_/.test(code)) {
    return red(
      `The certificate of the platform is not trusted (${code}); the key was not sent.`,
      'Check VOICE_AGENT_BASE_URL. Where a company proxy or a certificate authority of your own signs, name its certificate with NODE_EXTRA_CA_CERTS=file.pem, or set NODE_USE_SYSTEM_CA=1 to trust what this machine trusts.',
    )
  }
  return red(
    `What answers there does not speak TLS as it should (${code}).`,
    'Check the port in VOICE_AGENT_BASE_URL.',
  )
}

/** Number of measured requests. The first request is not measured, because it also connects. */
const measured = 3

/** Latency from which users notice each step of an assistant, ms. */
const slowMs = 1000

async function latency(session: PlatformSession): Promise<Finding> {
  const first = await session.first
  const stage = await failedStage(session)
  if (stage !== undefined) return seeOther(stage)
  const times: number[] = []
  for (let count = 0; count < measured; count++) {
    const { reply, ms } = await session.askAgain()
    if (!reply) break
    times.push(ms)
  }
  const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? first.ms
  const shown = (ms: number) => `${Math.round(ms)} ms`
  const text = `The first answer took ${shown(first.ms)}, with the connection; further ones ${shown(median)}.`
  return median < slowMs
    ? green(text)
    : yellow(
        text,
        'An assistant waits that long for each step. Run this server nearer to the platform, or ask its operator.',
      )
}
