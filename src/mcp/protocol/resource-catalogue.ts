import type { Route, RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { settledAccount } from '../../session/account.ts'
import type { CacheTime } from '../../session/reply-cache.ts'
import type { RestrictedSession } from '../../session/restricted-session.ts'
import { agentIds, type CompletionSource, voiceProviderCodes } from './completion-sources.ts'

/** All resources have this type. */
export const mimeType = 'application/json'

/** The request to the platform that reads a resource. */
interface ResourceSource {
  readonly route: Route
  readonly request: (account_id: string, value: string) => RouteRequest
  /** How long a reply may be reused, here and by clients; absent: every read asks the platform. */
  readonly cacheTime?: CacheTime
}

/** A resource with a fixed address. */
interface FixedResource extends ResourceSource {
  readonly uri: string
  readonly name: string
  readonly title: string
  readonly description: string
}

/** Resources whose addresses differ in one variable, which stands at the end. */
interface ResourceTemplate extends ResourceSource {
  readonly uriTemplate: string
  readonly name: string
  readonly title: string
  readonly description: string
  /** Values of the variable. */
  readonly completion: CompletionSource
}

const ofAccount = (account_id: string): RouteRequest => ({ params: { account_id }, query: {} })

const fixed: readonly FixedResource[] = [
  {
    uri: 'voice-agents://account',
    name: 'account',
    title: 'Account',
    description: 'The account of the API key.',
    route: routes.accounts.current,
    request: () => ({ params: {}, query: {} }),
  },
  {
    uri: 'voice-agents://catalog/models',
    name: 'models',
    title: 'Language models',
    description: 'Catalog of language models by provider, with ratings and prices.',
    route: routes.providers.models,
    request: ofAccount,
    cacheTime: 'catalog',
  },
  {
    uri: 'voice-agents://catalog/transcribers',
    name: 'transcribers',
    title: 'Transcribers',
    description: 'Catalog of transcribers by provider, with the languages they take.',
    route: routes.providers.transcribers,
    request: ofAccount,
    cacheTime: 'catalog',
  },
]

const templates: readonly ResourceTemplate[] = [
  {
    uriTemplate: 'voice-agents://catalog/voices/{provider}',
    name: 'voices',
    title: 'Voices of a provider',
    description: 'Live catalog of the voices of one provider, such as elevenlabs.',
    route: routes.providers.voices,
    request: (account_id, provider) => ({ params: { account_id }, query: { provider } }),
    completion: voiceProviderCodes,
    cacheTime: 'catalog',
  },
  {
    uriTemplate: 'voice-agents://agents/{agent_id}',
    name: 'agent',
    title: 'Agent',
    description: 'Full configuration of one agent of the account.',
    route: routes.agents.get,
    request: (account_id, agent_id) => ({ params: { account_id, agent_id }, query: {} }),
    completion: agentIds,
  },
]

const listed = <T extends ResourceSource>({
  route: _,
  request: __,
  cacheTime: ___,
  ...shown
}: T) => ({ ...shown, mimeType })

type Readable = Pick<RestrictedSession, 'mayRead'>

/** The resources with a fixed address that an exposed tool can read, as clients see them. */
export const fixedResources = ({ mayRead }: Readable) =>
  fixed.filter(({ route }) => mayRead(route)).map(listed)

/** The templates of what an exposed tool can read, as clients see them. */
export const resourceTemplates = ({ mayRead }: Readable) =>
  templates
    .filter(({ route }) => mayRead(route))
    .map(({ completion: _, ...template }) => listed(template))

/** The template with exactly this text, if an exposed tool can read its resources. */
export const templateAt = (uriTemplate: string, { mayRead }: Readable) =>
  templates.find((template) => template.uriTemplate === uriTemplate && mayRead(template.route))

/** How to read the resource with this address; `undefined`: no exposed tool can read it. */
export function sourceOf(
  uri: string,
  { pinnedAccount, mayRead }: Pick<RestrictedSession, 'pinnedAccount' | 'mayRead'>,
) {
  const account = settledAccount(undefined, pinnedAccount)
  const resource = fixed.find((one) => one.uri === uri && mayRead(one.route))
  if (resource) return { ...resource, request: resource.request(account, '') }
  for (const template of templates) {
    const [prefix = ''] = template.uriTemplate.split('{')
    const value = uri.startsWith(prefix) ? decodedSegment(uri.slice(prefix.length)) : ''
    if (value && mayRead(template.route)) {
      return { ...template, request: template.request(account, value) }
    }
  }
  return undefined
}

/** Whether this server has such addresses. The resource itself may be missing. */
export const isResourceAddress = (uri: string) =>
  sourceOf(uri, { pinnedAccount: undefined, mayRead: () => true }) !== undefined

/** One segment of a path, decoded; empty if the text is not one segment. */
function decodedSegment(segment: string): string {
  try {
    return segment.includes('/') ? '' : decodeURIComponent(segment)
  } catch {
    return ''
  }
}
