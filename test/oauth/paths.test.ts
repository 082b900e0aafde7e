import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OauthFlow, registeredClient } from '../harness/oauth-flow.ts'
import { type OauthServer, startOauthServer } from '../harness/oauth-server.ts'

let server: OauthServer
let flow: OauthFlow
beforeAll(async () => {
  server = await startOauthServer()
  flow = await registeredClient(server)
})
afterAll(() => server[Symbol.asyncDispose]())

/** Status of a GET with this exact path, which `fetch` would normalize. */
const statusOf = (path: string) =>
  new Promise<number>((resolve, reject) => {
    const { hostname, port, host } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', reject)
    socket.once('data', (chunk: Buffer) => {
      resolve(Number(chunk.toString().split(' ')[1]))
      socket.destroy()
    })
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
  })

describe('a path under /oauth/', () => {
  test.each([
    '/oauth/authorize/',
    '/oauth/AUTHORIZE',
    '/oauth/authorize//',
    '/oauth/%61uthorize',
    '/oauth/authorize;a',
    '/oauth/authorize#',
    '/oauth/./authorize',
    '/oauth/authorize/%2e',
    '/oauth/Authorize/an-id',
    '/oauth/authorize/an-id/',
    '/oauth/interaction',
    '/oauth/interaction/',
    '/oauth/INTERACTION/an-id',
    '/oauth/interaction/an-id/',
    '/oauth/interaction/an-id/abort',
    '/oauth/jwks/',
    '/oauth/register/a-client',
    '/oauth/end',
    '/oauth/end/confirm',
    '/oauth/',
    '/oauth/other',
    '/.well-known/OAUTH-authorization-server',
    '/.well-known/openid-configuration/',
  ])('that is not exactly a known one is not found: %s', async (path) => {
    const { url } = await flow.authorizationUrl({ response_mode: 'form_post' })
    expect(await statusOf(`${path}${url.search}`)).toBe(404)
  })

  test.each([
    ['/oauth/authorize', 303],
    // Expired: there is no cookie of an answered request.
    ['/oauth/authorize/an-id', 410],
    ['/oauth/interaction/an-id', 410],
    ['/oauth/jwks', 200],
    ['/.well-known/oauth-authorization-server', 200],
    ['/.well-known/oauth-protected-resource/mcp', 200],
  ])('that is known is answered: %s', async (path, status) => {
    const { url } = await flow.authorizationUrl()
    expect(await statusOf(`${path}${url.search}`)).toBe(status)
  })
})
