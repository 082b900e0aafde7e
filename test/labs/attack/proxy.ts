import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startConnectProxy } from '../../harness/connect-proxy.ts'
import { json } from '../../harness/fake-platform.ts'
import { authority, signed } from '../../harness/private-ca.ts'
import { rpc } from '../../harness/rpc.ts'
import type { Scenario } from './scenario.ts'

export const proxy: Scenario = {
  name: 'proxy',
  point: 'The platform is behind a proxy, and a private authority has signed its certificate.',
  guarantee: 'Tools reach it by CONNECT, over TLS from end to end; the proxy reads no key.',
  async run(attack) {
    const platform = await attack.platform(
      ({ url }, response) => json(response, 200, { id: url.includes('subaccounts') ? 's1' : 'a1' }),
      { tls: signed },
    )
    const tunnel = attack.keep(await startConnectProxy(Number(new URL(platform.url).port)))
    const authorityFile = join(attack.folder(), 'authority.pem')
    writeFileSync(authorityFile, authority)
    const server = await attack.serve({
      env: {
        ...platform.env,
        VOICE_AGENT_BASE_URL: 'https://platform.example',
        HTTPS_PROXY: tunnel.url.href,
        NODE_EXTRA_CA_CERTS: authorityFile,
      },
    })
    const read = {
      name: 'get_subaccount',
      arguments: { subaccount_id: '11111111-1111-4111-8111-111111111111' },
    }
    const { result } = await rpc(server.url, 'tools/call', read)
    assert.partialDeepStrictEqual(result, { structuredContent: { id: 's1' } })
    assert.equal(tunnel.asked[0]?.target, 'platform.example:443')
    assert.equal(tunnel.plain(), 0)
    return { tunnels: tunnel.asked.length }
  },
}
