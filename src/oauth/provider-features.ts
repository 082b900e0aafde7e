import { randomBytes } from 'node:crypto'
import { type Configuration, errors } from 'oidc-provider'
import type { Scope } from '../session/credential.ts'
import { parsedMetadata } from './client-documents.ts'
import { providerMetadata } from './client-metadata.ts'
import { lifetimes } from './lifetimes.ts'
import { resourceOf } from './resource-metadata.ts'

export interface FeatureOptions {
  readonly publicUrl: URL
  /** The scopes that some exposed tool needs. */
  readonly scopes: readonly Scope[]
  /** Whether a client at an address may register now. */
  readonly mayRegister: (address: string) => boolean
}

/** What of oidc-provider is used. */
export function featuresOf(options: FeatureOptions): NonNullable<Configuration['features']> {
  const { publicUrl, scopes, mayRegister } = options
  const resource = resourceOf(publicUrl).href
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
    revocation: { enabled: true },
    clientIdMetadataDocument: {
      enabled: true,
      ack: 'draft-02',
      cacheDuration: { min: 60, max: 24 * 3600 },
    },
    registration: {
      enabled: true,
      issueRegistrationAccessToken: false,
      idFactory(context) {
        if (!mayRegister(context.ip)) {
          // 400, as oidc-provider has it, says that the client is at fault, and to not try again.
          context.set('retry-after', '60')
          const error = new errors.TemporarilyUnavailable('too many registrations')
          throw Object.assign(error, { status: 429, statusCode: 429 })
        }
        // Before oidc-provider reads what the client sent.
        const { oidc } = context
        Object.defineProperty(oidc, 'body', { value: providerMetadata(parsedMetadata(oidc.body)) })
        return `client-${randomBytes(18).toString('base64url')}`
      },
    },
    resourceIndicators: {
      enabled: true,
      // Clients of older revisions name no resource; there is but one.
      defaultResource: async () => resource,
      useGrantedResource: async () => true,
      getResourceServerInfo: async (_, indicator) => {
        if (withoutSlash(indicator) !== resource) throw new errors.InvalidTarget()
        return {
          scope: scopes.join(' '),
          audience: resource,
          accessTokenFormat: 'opaque',
          accessTokenTTL: lifetimes.accessToken,
        }
      },
    },
  }
}

const withoutSlash = (indicator: string) => indicator.replace(/\/$/, '')
