import assert from 'node:assert/strict'
import { json } from '../../harness/fake-platform.ts'
import { crowd } from '../../harness/hostile-client.ts'
import { callBuiltTool, textOf } from '../measure/program.ts'
import { eventually } from './http-checks.ts'
import type { Scenario } from './scenario.ts'

export const noDescriptors: Scenario = {
  name: 'no-descriptors',
  point: 'A client opens so many connections that the server has no file descriptors left.',
  guarantee: 'Connected clients are answered meanwhile; afterwards everything works again.',
  async run(attack) {
    const platform = await attack.platform((_, response) => json(response, 200, { id: 's1' }))
    // No tool was called before, so nothing that a first call needs is loaded yet.
    const server = await attack.serve({ env: platform.env, descriptors: 64 })
    const read = () =>
      callBuiltTool(server.url, 'get_subaccount', {
        subaccount_id: '11111111-1111-4111-8111-111111111111',
      })
    const isWell = async () => (await fetch(new URL('/health', server.url))).ok
    // This connection stays open for the next requests.
    assert.ok(await isWell())
    using clients = await crowd(server.url, 200)
    const { sockets } = clients
    for (const socket of sockets) socket.resume()
    await eventually('some connections are refused', () => sockets.some(({ closed }) => closed))
    const held = sockets.filter(({ closed }) => !closed).length
    const during = await read()
    if (during.isError) assert.match(textOf(during), /could not be reached \(EMFILE\)/)
    for (const socket of sockets) socket.destroy()
    await eventually('a tool can be called', () =>
      read().then(
        ({ isError }) => !isError,
        () => false,
      ),
    )
    assert.ok(await isWell())
    return {
      'connections held': held,
      'a call meanwhile': during.isError ? 'failed, with a reason' : 'answered',
    }
  },
}
