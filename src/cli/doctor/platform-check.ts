import type { Failure, TimedOut } from '../../api/failure.ts'
import type { WireReply } from '../../api/send.ts'
import type { Inspection } from '../../service/inspection.ts'
import { type Check, type Finding, green } from './check.ts'
import { failedStage } from './failed-stage.ts'
import { checkNamed, seeOther } from './platform-check-names.ts'
import type { Answer, PlatformSession } from './platform-session.ts'

/** Whether the API answers at the address. */
export const platformCheck = (session: PlatformSession, inspection: Inspection): Check =>
  checkNamed('platform', async () => {
    const { failure, reply } = await session.first
    const stage = await failedStage(session, inspection)
    if (stage === undefined) return green(`The API answers at ${addressOf(session)}.`)
    return stage === 'platform' && failure
      ? platformFailure(session, failure, reply)
      : seeOther(stage)
  })

const addressOf = ({ config }: PlatformSession) => withoutSlash(config.baseUrl)

const withoutSlash = ({ origin, pathname }: URL) => origin + pathname.replace(/\/$/, '')

/** The operation that every check begins with. */
const firstPath = '/v1/accounts/current'

async function platformFailure(
  session: PlatformSession,
  failure: Failure,
  reply: WireReply | undefined,
): Promise<Finding> {
  const address = addressOf(session)
  switch (failure.kind) {
    case 'network':
      return unreachable(address, failure.code)
    case 'timeout':
      return late(address, failure)
    case 'redirected':
      return {
        light: 'red',
        text: `${address} redirects to ${failure.origin || 'no usable address'} (HTTP ${failure.status}), which is not followed: the key is sent nowhere else.`,
        todo: 'If the API is there, set VOICE_AGENT_BASE_URL to that address.',
      }
    default:
      return otherAnswer(session, failure, reply)
  }
}

function late(address: string, { waitingFor, afterMs }: TimedOut): Finding {
  const time = `within ${Math.round(afterMs / 100) / 10} s`
  return waitingFor === 'headers'
    ? {
        light: 'red',
        text: `${address} did not answer ${time}.`,
        todo: 'Check the network and the address. For a slow platform, raise --headers-timeout.',
      }
    : {
        light: 'red',
        text: `${address} began to answer, but its answer did not end ${time}.`,
        todo: 'Check the network, and any proxy between. For a slow platform, raise --timeout.',
      }
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
  return {
    light: 'red',
    text: `${address} cannot be reached${reason === undefined ? '' : `: ${reason}`} (${code}).`,
    todo: 'Check the host and the port in VOICE_AGENT_BASE_URL, the network, and any firewall between.',
  }
}

/** Something has answered, but not as the API. */
async function otherAnswer(
  session: PlatformSession,
  failure: Failure,
  reply: WireReply | undefined,
): Promise<Finding> {
  const status = reply?.status ?? 0
  const what = reply ? answerInWords(reply) : unreadableInWords(failure)
  // A gateway may limit requests in words of its own.
  if (status >= 500 || status === 429) {
    return {
      light: 'red',
      text: `${addressOf(session)} answers, but fails: ${what}.`,
      todo: 'Try again in a minute. If it persists, ask the operator of the platform.',
    }
  }
  const found = await findApi(session)
  return {
    light: 'red',
    text: `${addressOf(session)} has no such API: ${firstPath} answers ${what}.`,
    todo:
      found === undefined
        ? 'Correct VOICE_AGENT_BASE_URL: the address before /v1, as the documents of the platform give it.'
        : `Set VOICE_AGENT_BASE_URL to ${found} (the API seems to be there).`,
  }
}

/** A failure that keeps no reply: what came is no text, or too much of it. */
const unreadableInWords = (failure: Failure): string =>
  failure.kind === 'unreadable'
    ? `HTTP ${failure.status} with a reply that cannot be read (${failure.reason})`
    : failure.kind

/** What a reply is, for a person who has to find out what answers. */
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
 * The address of the API at another path of the same host, if it is there. It is asked without a key,
 * and answers that it wants one.
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
  return found && withoutSlash(found.url)
}

/** The API's answer to a request without a key: 401 in JSON. */
const wantsKey = ({ value }: Answer<WireReply>) =>
  value?.status === 401 && /json/.test(value.header('content-type') ?? '')
