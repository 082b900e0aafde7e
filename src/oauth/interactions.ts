import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { errors, type Interaction, type InteractionResults, type Provider } from 'oidc-provider'
import * as z from 'zod'
import type { Scope } from '../platform/sessions/credential.ts'
import type { Records } from '../state/records.ts'
import { isStaticClient } from './client-metadata.ts'
import { paths, resourceOf } from './endpoints.ts'
import { type FormTokens, isFromOwnPage, type PageAnswer, readAnswer } from './forms.ts'
import { notPreselected } from './pages/client-details.ts'
import type { AskingClient, ConsentFormModel, KeyFormModel, PageModel } from './pages/models.ts'
import { sendPage } from './pages/pages.ts'
import type { KeptKey, KeptKeys, TryKey } from './platform-keys.ts'
import { anybody } from './provider.ts'
import type { StateAdapters } from './state-adapter.ts'
import { lifetimes } from './tokens.ts'

/*
 * The pages of an authorization request. The person enters a platform key, which is checked, then
 * allows or cancels. The key is stored sealed for the request between the steps, and then for the
 * grant. Each form is answered with a redirect, so a reload resends nothing.
 */

export interface InteractionsOptions {
  readonly provider: Provider
  readonly publicUrl: URL
  readonly scopes: readonly Scope[]
  readonly records: Records
  readonly keptKeys: KeptKeys
  readonly adapters: StateAdapters
  readonly formTokens: FormTokens
  readonly tryKey: TryKey
  readonly platformHost: string
  /** Key of the sandbox's own account; `undefined` for a real platform. */
  readonly sandboxKey: string | undefined
}

/** A browser's request and its response. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Network of the request's sender. */
  readonly network: string
}

/** A pending authorization request. */
interface Asked {
  readonly interaction: Interaction
  readonly client: AskingClient
  readonly scopes: readonly Scope[]
}

/**
 * Creates the handler that serves the pages of authorization requests and takes their forms. The
 * handler throws StateError.
 */
export const createInteractions = (options: InteractionsOptions) => {
  const { provider, publicUrl, formTokens } = options
  return async (id: string, exchange: Exchange): Promise<void> => {
    const { request, response } = exchange
    const show = (model: PageModel) => sendPage(response, model)
    if (request.method === 'POST' && !isFromOwnPage(request.headers, publicUrl))
      return show({ page: 'problem', problem: 'forged' })
    const interaction = await findInteraction(provider, request, response)
    if (interaction?.uid !== id) return show(await missing(id, request, options))
    const asked = await whatIsAsked(interaction, options)
    if (!asked) return show({ page: 'problem', problem: 'expired' })
    if (request.method !== 'POST') return show(await currentPage(asked, options))
    const answer = await readAnswer(request)
    if (!answer || !(await formTokens.isOf(id, answer.form_token)))
      return show({ page: 'problem', problem: 'forged' })
    const next = await takeAnswer(answer, asked, { ...exchange, options })
    if ('page' in next) return show(next)
    response.writeHead(303, { location: next.redirect, 'cache-control': 'no-store' }).end()
  }
}

/**
 * The authorization request that the browser's cookie belongs to; `undefined` if it has ended or
 * expired.
 */
async function findInteraction(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Interaction | undefined> {
  try {
    return await provider.interactionDetails(request, response)
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return undefined
    throw error
  }
}

/** Page for a request that is not pending: answered, expired or unknown. */
async function missing(
  id: string,
  request: IncomingMessage,
  { records }: InteractionsOptions,
): Promise<PageModel> {
  if ((await records.get(answerKey(id))) !== undefined) return answered
  const again = request.method === 'POST' ? (await readAnswer(request))?.again : undefined
  return {
    page: 'problem',
    problem: 'expired',
    again: again === undefined ? undefined : `${paths.authorize}?${new URLSearchParams(again)}`,
  }
}

const answerKey = (id: string) => ({ kind: 'oauth_used', id: `answer ${id}` }) as const

const Params = z.looseObject({
  client_id: z.string(),
  redirect_uri: z.string(),
  scope: z.string().default(''),
})

async function whatIsAsked(
  interaction: Interaction,
  { provider, scopes: offered }: InteractionsOptions,
): Promise<Asked | undefined> {
  const { client_id: id, redirect_uri: redirectUri, scope } = Params.parse(interaction.params)
  const client = await provider.Client.find(id)
  if (!client) return undefined
  const words = scope.split(' ')
  return {
    interaction,
    scopes: offered.filter((one) => words.includes(one)),
    client: { id, redirectUri, name: client.clientName, known: knownHow(client) },
  }
}

/** oidc-provider marks clients of metadata documents with a property that its types lack. */
function knownHow(client: object): AskingClient['known'] {
  if ('clientIdMetadataDocument' in client) return 'by_document'
  return isStaticClient(client) ? 'by_operator' : 'by_registration'
}

async function formOf({ interaction, client }: Asked, { formTokens }: InteractionsOptions) {
  const { uid, params } = interaction
  const texts = Object.entries(params).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return {
    client,
    action: `${paths.interaction}/${uid}`,
    formToken: await formTokens.of(uid),
    again: String(new URLSearchParams(texts)),
  }
}

const keyName = ({ interaction }: Asked) => ({ of: 'interaction', id: interaction.uid }) as const

async function currentPage(asked: Asked, options: InteractionsOptions): Promise<PageModel> {
  const key = await options.keptKeys.find(keyName(asked))
  return key ? consentPage(key, asked, options) : keyPage(asked, options)
}

async function keyPage(asked: Asked, options: InteractionsOptions): Promise<KeyFormModel> {
  const { sandboxKey, platformHost } = options
  const platform = sandboxKey === undefined ? { host: platformHost } : 'sandbox'
  return { page: 'key', platform, ...(await formOf(asked, options)) }
}

async function consentPage(
  { account }: KeptKey,
  asked: Asked,
  options: InteractionsOptions,
): Promise<ConsentFormModel> {
  const { client, scopes } = asked
  return {
    page: 'consent',
    account,
    isSandbox: options.sandboxKey !== undefined,
    asked: scopes,
    ticked: scopes.filter((scope) => !notPreselected(client).includes(scope)),
    days: lifetimes.grant / (24 * 3600),
    ...(await formOf(asked, options)),
  }
}

interface Answering extends Exchange {
  readonly options: InteractionsOptions
}

/** Result of a form: a page or a redirect. */
type Next = PageModel | { readonly redirect: string }

async function takeAnswer(answer: PageAnswer, asked: Asked, answering: Answering): Promise<Next> {
  const { options } = answering
  const here = { redirect: `${paths.interaction}/${asked.interaction.uid}` }
  if (answer.answer === 'cancel') return cancel(asked, answering)
  if (answer.step === 'key') return takeKey(answer, asked, answering)
  if (answer.answer === 'other_key') {
    await options.keptKeys.remove(keyName(asked))
    return here
  }
  const key = await options.keptKeys.find(keyName(asked))
  // No key: the form was sent twice and is already answered, or another tab has removed the key.
  if (!key) return asked.interaction.result ? { redirect: asked.interaction.returnTo } : here
  const allowed = asked.scopes.filter((scope) => answer.scopes.includes(scope))
  if (allowed.length > 0) return allow(allowed, key, asked, answering)
  return { ...(await consentPage(key, asked, options)), ticked: [], nothingTicked: true }
}

async function takeKey(
  { answer, key: text }: Extract<PageAnswer, { step: 'key' }>,
  asked: Asked,
  { network, options }: Answering,
): Promise<Next> {
  const { keptKeys, sandboxKey, tryKey } = options
  const { uid: interactionId } = asked.interaction
  const given = answer === 'sandbox' && sandboxKey !== undefined ? sandboxKey : text
  const tried = await tryKey(given, { network, interactionId })
  if ('problem' in tried) return { ...(await keyPage(asked, options)), problem: tried.problem }
  await keptKeys.keep(keyName(asked), tried.key, lifetimes.interaction * 1000)
  return { redirect: `${paths.interaction}/${interactionId}` }
}

/**
 * Creates a grant of the allowed scopes with its own copy of the key. The redirect gives the client
 * its code.
 */
async function allow(
  allowed: readonly Scope[],
  key: KeptKey,
  asked: Asked,
  answering: Answering,
): Promise<Next> {
  const { provider, publicUrl, keptKeys, adapters } = answering.options
  const grantId = randomBytes(32).toString('base64url')
  const name = { of: 'grant', id: grantId } as const
  // Stored before the request counts as answered, because the store may be full.
  await keptKeys.keep(name, key, lifetimes.grant * 1000)
  if (!(await isFirstAnswer(asked, answering.options))) {
    await keptKeys.remove(name)
    return answered
  }
  const grant = new provider.Grant({ accountId: anybody, clientId: asked.client.id })
  grant.jti = grantId
  grant.addResourceScope(resourceOf(publicUrl).href, allowed.join(' '))
  await grant.save()
  await adapters.keepClient(asked.client.id)
  const login = { accountId: anybody, remember: false }
  return end({ login, consent: { grantId } }, asked, answering)
}

async function cancel(asked: Asked, answering: Answering): Promise<Next> {
  if (!(await isFirstAnswer(asked, answering.options))) return answered
  const error_description = 'The person did not allow access.'
  return end({ error: 'access_denied', error_description }, asked, answering)
}

/**
 * Stores the result of the interaction. Returns the redirect to oidc-provider, which sends the
 * browser back to the client.
 */
async function end(
  result: InteractionResults,
  asked: Asked,
  { request, response, options }: Answering,
): Promise<Next> {
  const redirect = await options.provider.interactionResult(request, response, result)
  await options.keptKeys.remove(keyName(asked))
  return { redirect }
}

const answered: PageModel = { page: 'problem', problem: 'answered' }

/** True for the first answer to an authorization request, across all servers. */
async function isFirstAnswer(
  { interaction: { uid } }: Asked,
  { records }: InteractionsOptions,
): Promise<boolean> {
  const forMs = lifetimes.interaction * 1000
  const answer = { ...answerKey(uid), owner: 'oauth', value: '', forMs }
  return (await records.add(answer)) === 'added'
}
