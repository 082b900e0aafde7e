import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Environment } from '../../config/setting-texts.ts'
import type { Inspection } from '../../service/inspection.ts'
import { type Check, type Finding, green, skipped } from './check.ts'
import { failedStage, type Stage, usesProxy } from './failed-stage.ts'
import { checkNamed, seeOther } from './platform-check-names.ts'
import type { PlatformSession } from './platform-session.ts'

/** How the platform is reached: name, proxy, certificate, and how long an answer takes. */
export function networkChecks(
  session: PlatformSession,
  inspection: Inspection,
  env: Environment,
): Check[] {
  const { protocol } = session.config.baseUrl
  const stage = () => failedStage(session, inspection)
  return [
    checkNamed('dns', () => dns(session)),
    checkNamed('proxy', async () => proxy(session, env, await stage())),
    checkNamed('tls', async () =>
      protocol === 'https:'
        ? tls(session, env, await stage())
        : skipped('Not used: the platform is on this machine.'),
    ),
    checkNamed('latency', async () => latency(session, await stage())),
  ]
}

/** Without the brackets of an IPv6 address. */
const hostOf = ({ config }: PlatformSession) => config.baseUrl.hostname.replace(/^\[|\]$/g, '')

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
  return {
    light: 'red',
    text: isAway
      ? `No name server answers, so ${host} cannot be found (${found.code}).`
      : `There is no host ${host} (${found.code}).`,
    todo: isAway
      ? 'Check the network connection. Where a proxy is needed, set HTTPS_PROXY.'
      : 'Correct the host in VOICE_AGENT_BASE_URL. Where only a proxy knows it, set HTTPS_PROXY.',
  }
}

async function proxy(
  session: PlatformSession,
  env: Environment,
  stage: Stage | undefined,
): Promise<Finding> {
  const { failure } = await session.first
  const { proxy: configured } = session.config
  if (!configured) return noProxy(env, failure?.kind === 'network' && stage !== 'proxy')
  const { host } = new URL(configured.url)
  if (stage === 'proxy') {
    if (failure?.kind === 'timeout') return silentProxy(host, failure.afterMs)
    const code = failure?.kind === 'network' ? failure.code : ''
    return { light: 'red', text: proxyFailure(host, code), todo: proxyTodo(code) }
  }
  return usesProxy(session)
    ? green(`${host} (HTTPS_PROXY) connects to the platform.`)
    : green('Not used: NO_PROXY excepts the platform.')
}

const silentProxy = (host: string, afterMs: number): Finding => ({
  light: 'red',
  text: `The proxy ${host} can be reached, but has not connected to the platform within ${Math.round(afterMs / 100) / 10} s.`,
  todo: 'Check whether HTTPS_PROXY names a proxy, and whether that reaches the host of VOICE_AGENT_BASE_URL.',
})

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

/** Variables of proxies that other programs read. */
const otherVariables = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']

function noProxy(env: Environment, isUnreachable: boolean): Finding {
  const given = otherVariables.find((name) => env[name])
  if (given === undefined || !isUnreachable) return green('None.')
  return {
    light: 'yellow',
    text: `None. ${given} is set, but the platform is reached by https, for which HTTPS_PROXY counts.`,
    todo: 'If this network needs a proxy, set HTTPS_PROXY.',
  }
}

const dayMs = 86_400_000

/** A certificate that ends within this time is mentioned, ms. */
const soonMs = 14 * dayMs

async function tls(
  session: PlatformSession,
  env: Environment,
  stage: Stage | undefined,
): Promise<Finding> {
  if (stage === 'tls') return tlsFailure((await session.first).failure)
  const host = hostOf(session)
  const own = session.connections.made.findLast((one) => one.host === host && one.tls)
  if (!own?.tls) return seeOther(stage ?? 'platform')
  const { protocol, issuer, validUntil } = own.tls
  const until = new Date(validUntil).toISOString().slice(0, 10)
  const text = `${protocol}; the certificate is from ${issuer}, and is valid until ${until}.`
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    return {
      light: 'yellow',
      text: `${text} It is not checked: NODE_TLS_REJECT_UNAUTHORIZED is 0, so anybody on the way could read the API key.`,
      todo: 'Unset it. Name a certificate authority of your own with NODE_EXTRA_CA_CERTS.',
    }
  }
  return validUntil - Date.now() < soonMs
    ? { light: 'yellow', text, todo: 'Tell the operator of the platform that it ends soon.' }
    : green(text)
}

function tlsFailure(failure: Awaited<PlatformSession['first']>['failure']): Finding {
  const code = failure?.kind === 'network' ? failure.code : ''
  if (code === 'CERT_HAS_EXPIRED') {
    return {
      light: 'red',
      text: 'The certificate of the platform has expired, or the clock of this machine is wrong.',
      todo: 'Check the clock (date). If it is right, tell the operator of the platform.',
    }
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return {
      light: 'red',
      text: 'The certificate is for another host than the one in VOICE_AGENT_BASE_URL.',
      todo: 'Correct VOICE_AGENT_BASE_URL. Never send the key to a host whose certificate is wrong.',
    }
  }
  if (/CERT|^UNABLE_TO_/.test(code)) {
    return {
      light: 'red',
      text: `The certificate of the platform is not trusted (${code}); the key was not sent.`,
      todo: 'Check VOICE_AGENT_BASE_URL. Where a company proxy or a certificate authority of your own signs, name its certificate with NODE_EXTRA_CA_CERTS=file.pem, or set NODE_USE_SYSTEM_CA=1 to trust what this machine trusts.',
    }
  }
  return {
    light: 'red',
    text: `What answers there does not speak TLS as it should (${code}).`,
    todo: 'Check the port in VOICE_AGENT_BASE_URL.',
  }
}

/** How many further requests are measured; the first one also connects. */
const measured = 3

/** From here on a person notices how long each step of an assistant takes, ms. */
const slowMs = 1000

async function latency(session: PlatformSession, stage: Stage | undefined): Promise<Finding> {
  const first = await session.first
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
    : {
        light: 'yellow',
        text,
        todo: 'An assistant waits that long for each step. Run this server nearer to the platform, or ask its operator.',
      }
}
