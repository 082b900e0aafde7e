import type { ErrorObject } from 'ajv'
import * as z from 'zod'
import { isObject, type Operation, type Schema } from '../../harness/openapi.ts'

/** A sent request. */
export interface Sent {
  readonly operation: Operation | null
  readonly method: string
  readonly url: URL
  readonly body: string | undefined
  readonly key: string
}

/** A reply; `json` is undefined if the body is not JSON. */
export interface Reply {
  readonly status: number
  readonly type: string | null
  readonly text: string
  readonly json: unknown
}

/**
 * Fields that may be refused although the request matches the schema: their validity depends on
 * stored data, on another field, or on a list that is not in the schema, such as time zones.
 */
const semanticChecks: readonly [operation: string, field: RegExp][] = [
  ['calls_place', /^body\.agent_id$/], // archived agent
  ['calls_place', /^body\.from_number$/], // missing for phone, not owned, on no trunk that dials out
  ['calls_place', /^body\.to_number$/], // missing for phone, cannot be called
  ['phone_numbers_create', /^body\.inbound_agent_id$/], // archived
  ['phone_numbers_update', /^body\.inbound_agent_id$/],
  ['agents_update', /^body\.is_archived$/], // only false
  ['calls_place', /^body\.overrides\./], // fields of an agent, with their bounds
  ['sip_trunks_create', /^body\.(allowed_ips\.\d+|termination_uri)$/], // no address, no SIP host
  ['sip_trunks_update', /^body\.(allowed_ips\.\d+|termination_uri)$/],
  ['providers_voices', /^query\.provider$/], // unknown provider
  ['usage_get', /^query\.tz$/], // unknown time zone
  ['usage_get', /^query\.start$/], // not before the end
]

/** Operations whose body has ids that may not exist. */
const referring = new Set(['phone_numbers_create', 'phone_numbers_update', 'calls_place'])

const Envelope = z.object({
  code: z.string(),
  errors: z.array(z.object({ field: z.string() })).nullable(),
})

/** The fault of a reply in words; null if there is none. */
export function verdict(sent: Sent, reply: Reply): string | null {
  if (reply.status >= 500) return 'it failed'
  if (!sent.operation) return strayVerdict(sent, reply)
  return formVerdict(sent.operation, reply) ?? meaningVerdict(sent, sent.operation, reply)
}

function strayVerdict({ method }: Sent, { status, json }: Reply): string | null {
  if (![400, 401, 404, 405].includes(status)) return 'an unknown request is not refused as one'
  const isEnvelope = method === 'HEAD' || Envelope.safeParse(json).success
  return isEnvelope ? null : 'the error has no envelope'
}

/** Checks that the document describes the reply: status, content type, schema, error code. */
function formVerdict({ responses }: Operation, reply: Reply): string | null {
  const documented = responses.get(reply.status)
  if (!documented) return 'the status is not documented'
  const { body } = documented
  if (!body) return reply.text === '' ? null : 'there is a body where none is documented'
  if (!reply.type?.startsWith('application/json')) return 'the content type is not JSON'
  if (!body.validate(reply.json)) return `off its schema: ${errorTexts(body.validate.errors)}`
  if (reply.status < 400) return null
  const codes = Object.values(body.examples).map(({ value }) => isObject(value) && value.code)
  return isObject(reply.json) && codes.includes(String(reply.json.code))
    ? null
    : 'the error code is none of its status'
}

/** Checks that the reply is right for the request, as far as the schemas decide. */
function meaningVerdict(sent: Sent, operation: Operation, reply: Reply): string | null {
  const { status } = reply
  const isUnknownKey = sent.key === 'nobody' || sent.key === 'missing'
  if (isUnknownKey || status === 401) {
    return isUnknownKey && status === 401 ? null : 'the status is wrong for the key'
  }
  const path = pathValues(operation, sent.url.pathname)
  if (path === null) return status === 400 ? null : 'a path that cannot be read is not 400'
  // 403 is possible only for an account in the path, which is checked first.
  const account = path.get('account_id')
  if (status === 403) return account === undefined ? 'nothing can be forbidden here' : null
  const isAboutAccount = account !== undefined && account !== 'me'
  // 404 is possible for an id in the body, too.
  const refers = referring.has(operation.id)
  if (status === 404) {
    return refers || path.size > (isAboutAccount ? 0 : 1) ? null : 'nothing can be missing'
  }

  const body = bodyValue(sent.body)
  if (operation.body && body === unreadable) {
    return status === 400 ? null : 'a body that cannot be read is not 400'
  }
  if (status === 400) return 'a request that can be read is 400'
  return fieldsVerdict(operation, wrongFields(operation, sent.url.searchParams, body), reply)
}

/**
 * Checks that a 422 names exactly the wrong fields, and that only requests with wrong fields are
 * refused.
 */
function fieldsVerdict(operation: Operation, wrong: string[], reply: Reply): string | null {
  if (reply.status !== 422) {
    return wrong.length > 0 ? `it was accepted with wrong fields: ${wrong.join(' ')}` : null
  }
  const reported = Envelope.parse(reply.json).errors?.map(({ field }) => field) ?? []
  if (reported.length === 0) return 'no field is named'
  const isSemantic = (field: string) =>
    semanticChecks.some(([id, expression]) => id === operation.id && expression.test(field))
  const valid = reported.filter(
    (field) => !isSemantic(field) && !wrong.some((one) => meet(one, field)),
  )
  if (valid.length > 0) return `refused, though fine by the schema: ${valid.join(' ')}`
  const unreported = wrong.filter((one) => !reported.some((field) => meet(one, field)))
  return unreported.length > 0
    ? `wrong fields that are not reported: ${unreported.join(' ')}`
    : null
}

/** True if the fields are the same, or one contains the other. */
const meet = (one: string, other: string) =>
  one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`)

/** Decoded path parameters; null if the encoding is invalid. */
function pathValues({ path }: Operation, pathname: string): Map<string, string> | null {
  const texts = pathname.split('/')
  try {
    return new Map(
      path.split('/').flatMap((name, index): [string, string][] => {
        const isParameter = name.startsWith('{')
        return isParameter ? [[name.slice(1, -1), decodeURIComponent(texts[index] ?? '')]] : []
      }),
    )
  } catch {
    return null
  }
}

const unreadable = Symbol('no JSON')

/** Start of a body that is nested too deeply to parse without exhausting the stack. */
const tooDeep = '{"a":'.repeat(1000)

function bodyValue(text: string | undefined): unknown {
  if (!text) return undefined
  if (text.includes(tooDeep)) return unreadable
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return unreadable
  }
}

/** Fields that violate the schemas, named as the API names them. */
function wrongFields(operation: Operation, search: URLSearchParams, body: unknown): string[] {
  const wrong: string[] = []
  for (const { name, in: where, required, schema, validate } of operation.parameters) {
    if (where !== 'query') continue
    // An empty parameter counts as not given.
    const texts = search.getAll(name).filter((text) => text !== '')
    if (texts.length === 0 ? required : !validate(queryValue(schema, texts))) {
      wrong.push(`query.${name}`)
    }
  }
  if (!operation.body) return wrong
  if (body === undefined) return [...wrong, 'body']
  const { validate } = operation.body
  if (validate(body)) return wrong
  return [...wrong, ...(validate.errors ?? []).map(fieldOf)]
}

/** Value of a query parameter for its schema: the last one if repeated, unless it is a list. */
function queryValue({ type }: Schema, texts: string[]): unknown {
  const last = texts.at(-1) ?? ''
  if (type === 'array') return texts.flatMap((text) => text.split(','))
  if (type === 'integer' || type === 'number') {
    return /^-?\d+(\.\d+)?$/.test(last) ? Number(last) : last
  }
  if (type === 'boolean' && /^(true|false)$/.test(last)) return last === 'true'
  return last
}

function fieldOf({ instancePath, params }: ErrorObject): string {
  const names = instancePath.split('/').slice(1)
  const missing: unknown[] = 'missingProperty' in params ? [params.missingProperty] : []
  const plain = names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  return ['body', ...plain, ...missing].join('.')
}

const errorTexts = (errors: readonly ErrorObject[] | null | undefined) =>
  errors?.map(({ instancePath, message }) => `${instancePath} ${message}`).join('; ')
