import { describe, expect, test } from 'vitest'
import { ClientMetadata, isOwnRedirect, providerMetadata } from '../../src/oauth/client-metadata.ts'
import { knownRequest } from '../../src/oauth/endpoints.ts'
import { isFromOwnPage } from '../../src/oauth/forms.ts'

describe('metadata of a client', () => {
  const read = (redirect_uris: string[], more = {}) =>
    providerMetadata(ClientMetadata.parse({ redirect_uris, ...more }))

  test.each([
    [['https://claude.ai/api/mcp/auth_callback'], 'web'],
    [['http://localhost:9999/callback'], 'native'],
    [['cursor://anysphere.cursor-retrieval/oauth/callback'], 'native'],
    [['https://vscode.dev/redirect', 'http://127.0.0.1/', 'http://127.0.0.1:33418/'], 'native'],
  ])('%j is of a client of the kind %s', (uris, type) => {
    expect(read(uris).application_type).toBe(type)
  })

  test('is as it says itself, where it can be', () => {
    const web = { application_type: 'web' }
    expect(read(['http://localhost:1/cb'], web).application_type).toBe('web')
    expect(read(['app.example:/cb'], web).application_type).toBe('native')
  })

  test('keeps the grant types that this server has, and may refresh by default', () => {
    const device = 'urn:ietf:params:oauth:grant-type:device_code'
    const uris = ['https://a.example.com/cb']
    expect(read(uris).grant_types).toEqual(['authorization_code', 'refresh_token'])
    const some = { grant_types: ['authorization_code', device] }
    expect(read(uris, some).grant_types).toEqual(['authorization_code'])
    expect(
      read(uris, { scope: 'anything', id_token_signed_response_alg: 'RS256' }),
    ).not.toHaveProperty('scope')
  })

  test.each(['http://example.com/cb', 'http://192.168.1.5/cb', 'no address'])(
    'with the redirect address %s is refused',
    (uri) => {
      expect(ClientMetadata.safeParse({ redirect_uris: [uri] }).success).toBe(false)
    },
  )
})

describe('a redirect address', () => {
  test.each([
    ['http://127.0.0.1:5/cb', 'http://127.0.0.1/cb', true],
    ['http://localhost:5/cb', 'http://localhost:6/cb', true],
    ['http://[::1]:5/cb', 'http://[::1]/cb', true],
    ['http://localhost:5/cb', 'http://127.0.0.1:5/cb', false],
    ['http://127.0.0.1:99999/cb', 'http://127.0.0.1/cb', false],
    ['http://127.0.0.1:5/cb/x', 'http://127.0.0.1/cb', false],
    ['http://127.0.0.1:5/cb?x', 'http://127.0.0.1/cb', false],
    ['http://127.0.0.1.evil.com/cb', 'http://127.0.0.1/cb', false],
    ['http://127.0.0.1:5@evil.com/cb', 'http://127.0.0.1/cb', false],
    ['https://127.0.0.1:5/cb', 'http://127.0.0.1/cb', false],
    ['https://a.example.com:8443/cb', 'https://a.example.com/cb', false],
    ['https://a.example.com/cb', 'https://a.example.com/cb', true],
  ])('%s for %s: %s', (uri, own, isOwn) => {
    expect(isOwnRedirect(uri, [own])).toBe(isOwn)
  })
})

describe('the scopes of a request', () => {
  const scopesOf = (query: string) =>
    new URLSearchParams(knownRequest(`/a?${query}`, ['read', 'call']).split('?')[1]).get('scope')

  test.each([
    ['scope=read', 'read'],
    ['scope=call+read', 'read call'],
    ['', 'read call'],
    ['scope=', 'read call'],
    ['scope=openid+profile', 'read call'],
    ['scope=write', 'read call'],
    ['scope=read+offline_access+openid', 'read offline_access'],
    ['scope=read&scope=call', 'read call'],
  ])('%j are %s', (query, scopes) => {
    expect(scopesOf(query)).toBe(scopes)
  })

  test('leave the other parameters as they are', () => {
    const address = knownRequest('/a?state=a%26b&resource=x&resource=y', ['read'])
    const params = new URLSearchParams(address.split('?')[1])
    expect(params.get('state')).toBe('a&b')
    expect(params.getAll('resource')).toEqual(['x', 'y'])
  })
})

describe('a form', () => {
  const own = new URL('https://voice.example.com')
  test.each([
    [{ 'sec-fetch-site': 'same-origin', origin: 'https://voice.example.com' }, true],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, true],
    [{ origin: 'https://voice.example.com' }, true],
    [{ 'sec-fetch-site': 'none' }, false],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ origin: 'null' }, false],
    [{ 'sec-fetch-site': 'same-origin', origin: 'https://evil.example.com' }, false],
    [{}, false],
  ])('with %j is of our own page: %s', (headers, isOwn) => {
    expect(isFromOwnPage(headers, own)).toBe(isOwn)
  })
})
