/** The addresses of the authorization server, below the public one. */
export const paths = {
  authorize: '/oauth/authorize',
  interaction: '/oauth/interaction',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  jwks: '/oauth/jwks',
  endSession: '/oauth/end',
  resourceMetadata: '/.well-known/oauth-protected-resource',
  serverMetadata: '/.well-known/oauth-authorization-server',
  /** The same under the name of OpenID Connect, where some clients look. */
  openidMetadata: '/.well-known/openid-configuration',
} as const

/** Whether a path is one of the authorization server. */
export const isOauthPath = (path: string): boolean =>
  path.startsWith('/oauth/') ||
  path === paths.serverMetadata ||
  path === paths.openidMetadata ||
  path === paths.resourceMetadata ||
  path.startsWith(`${paths.resourceMetadata}/`)

/** The id of the authorization request that a path of an interaction names. */
export const interactionIn = (path: string): string | undefined =>
  path.startsWith(`${paths.interaction}/`) ? path.slice(paths.interaction.length + 1) : undefined
