import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bearer, callTool, OauthFlow, registeredClient } from '../harness/oauth-flow.ts'
import { type OauthServer, startOauthServer } from '../harness/oauth-server.ts'
import { type PostgresServer, startPostgres } from '../harness/postgres-server.ts'
import { freePort } from '../harness/program.ts'
import { forward } from '../harness/replicas.ts'
import { startTcpProxy } from '../harness/tcp-proxy.ts'

/** Two servers on one database, behind a round-robin load balancer. */
let database: PostgresServer
let servers: OauthServer[]
let balancer: Server
let flow: OauthFlow
const served = [0, 0]

beforeAll(async () => {
  database = await startPostgres()
  const url = await database.newDatabase()
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}`
  const texts = { 'state-url': url, secret: 'the secret that both servers have' }
  servers = await Promise.all([1, 2].map(() => startOauthServer({ texts, publicUrl })))
  let turn = 0
  balancer = createServer((incoming, answer) => {
    turn = (turn + 1) % 2
    served[turn] = (served[turn] ?? 0) + 1
    forward(incoming, answer, new URL(incoming.url ?? '', servers[turn]?.mcp).href)
  })
  balancer.listen(port, '127.0.0.1')
  await once(balancer, 'listening')
  flow = await registeredClient({ url: publicUrl })
}, 60_000)

afterAll(async () => {
  balancer.close()
  balancer.closeAllConnections()
  for (const server of servers) await server[Symbol.asyncDispose]()
  expect(servers.flatMap(({ errors }) => errors)).toEqual([])
  await database[Symbol.asyncDispose]()
})

/** The client's flow, with all requests to the server with this index. */
const at = (which: number) => {
  const { mcp = '' } = servers[which] ?? {}
  const own = (endpoint = '') => new URL(new URL(endpoint).pathname, mcp).href
  const { token_endpoint, revocation_endpoint, ...as } = flow.as
  return new OauthFlow(
    {
      ...as,
      token_endpoint: own(token_endpoint),
      revocation_endpoint: own(revocation_endpoint),
    },
    flow.client,
  )
}
const use = (which: number, token: string) =>
  callTool(servers[which]?.mcp ?? '', 'list_agents', bearer(token))
const refused = { error: 'invalid_grant' }

test('any server registers, allows and serves a client', async () => {
  const tokens = await flow.tokens()
  for (const which of [0, 1]) expect((await use(which, tokens.access_token)).status).toBe(200)
  const second = await flow.refresh(tokens.refresh_token ?? '')
  for (const which of [0, 1]) expect((await use(which, second.access_token)).status).toBe(200)
  expect(Math.min(...served)).toBeGreaterThan(2)
})

test('a code that is used on both servers concurrently is accepted once', async () => {
  for (let round = 0; round < 5; round++) {
    const code = await flow.code()
    const answers = await Promise.allSettled([0, 1, 0, 1].map((which) => at(which).exchange(code)))
    const got = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(got.length).toBeLessThanOrEqual(1)
    for (const { access_token } of got) expect((await use(0, access_token)).status).toBe(401)
  }
})

test('a refresh token that is reused on another server ends the grant', async () => {
  const first = await flow.tokens()
  const second = await at(0).refresh(first.refresh_token ?? '')
  expect((await use(1, second.access_token)).status).toBe(200)
  await expect(at(1).refresh(first.refresh_token ?? '')).rejects.toMatchObject(refused)
  for (const which of [0, 1]) expect((await use(which, second.access_token)).status).toBe(401)
  await expect(at(0).refresh(second.refresh_token ?? '')).rejects.toMatchObject(refused)
})

test('all servers together count the renewals of a connection', async () => {
  let { refresh_token: token = '' } = await flow.tokens()
  for (let renewal = 0; renewal < 60; renewal++)
    token = (await at(renewal % 2).refresh(token)).refresh_token ?? ''
  for (const which of [0, 1])
    await expect(at(which).refresh(token)).rejects.toMatchObject({
      status: 429,
      error: 'temporarily_unavailable',
    })
})

test('a refresh token that is used on both servers concurrently leaves no valid tokens', async () => {
  for (let round = 0; round < 5; round++) {
    const { refresh_token: token = '' } = await flow.tokens()
    const answers = await Promise.allSettled([0, 1, 0, 1].map((which) => at(which).refresh(token)))
    const got = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(got.length).toBeLessThanOrEqual(1)
    for (const { access_token } of got) expect((await use(0, access_token)).status).toBe(401)
  }
})

test('a token revoked on one server is refused by the other at once', async () => {
  const tokens = await flow.tokens()
  expect((await use(1, tokens.access_token)).status).toBe(200)
  await at(0).revoke(tokens.refresh_token ?? '')
  const answer = await use(1, tokens.access_token)
  expect(answer.status).toBe(401)
  expect(answer.headers.get('www-authenticate')).toMatch(/error="invalid_token"/)
})

test('while the database is away no token is accepted or issued; both work once it is back', async () => {
  await using network = await startTcpProxy(database.port)
  const url = network.through(await database.newDatabase())
  const secret = 'the secret that both servers have'
  await using own = await startOauthServer({ texts: { 'state-url': url, secret } })
  const client = await registeredClient(own)
  const tokens = await client.tokens()
  const use = () => callTool(own.mcp, 'list_agents', bearer(tokens.access_token))
  expect((await use()).status).toBe(200)
  network.cut()
  const answer = await use()
  expect(answer.status).toBe(503)
  // After a 401 the client would ask the user for consent again.
  expect(answer.headers.get('www-authenticate')).toBeNull()
  const refresh = await fetch(client.as.token_endpoint ?? '', {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token ?? '',
      client_id: client.client.client_id,
    }),
  })
  expect(refresh.status).toBe(503)
  expect(await refresh.json()).toMatchObject({ error: 'temporarily_unavailable' })
  expect((await callTool(own.mcp, 'list_agents', { 'x-api-key': 'sandbox-key' })).status).toBe(200)
  network.heal()
  await expect.poll(async () => (await use()).status).toBe(200)
  expect((await client.refresh(tokens.refresh_token ?? '')).access_token).toBeDefined()
  expect(own.errors).toEqual([])
}, 60_000)
