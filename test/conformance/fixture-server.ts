import { everyTool } from '../../src/mcp/exposure.ts'
import { createRequestExposure } from '../../src/mcp/request-exposure.ts'
import { startHttp } from '../../src/server/transports/http.ts'
import { startStdio } from '../../src/server/transports/stdio.ts'
import { connectStdio } from '../../src/server/transports/stdio-connection.ts'
import { openHttpOptions, readyService } from '../harness/http-options.ts'
import { factory } from './fixture-factory.ts'

/*
 * The suite's own tools, resources and prompts behind this server's HTTP or stdio: its checks of
 * sources, keys, methods and messages, its limits and its streams.
 *
 * node test/conformance/fixture-server.ts [stdio | http [PORT]]
 */

const onError = (error: Error) => process.stderr.write(`${error.message}\n`)

async function serveHttp(port: number): Promise<void> {
  const server = await startHttp(
    {
      ...readyService,
      factory,
      httpFastPath: () => undefined,
      observeStream: (_message, _request, run) => run(),
      exposureFor: createRequestExposure(everyTool([])),
    },
    { ...openHttpOptions, port, onError },
  )
  process.stdout.write(`${server.url}/mcp\n`)
}

function serveStdio(): void {
  startStdio({
    handshake: () => undefined,
    load: async () => (handover) =>
      connectStdio(
        {
          factory,
          onError,
          onShutdown: () => undefined,
          onReplay: () => undefined,
          watch: () => () => undefined,
        },
        handover,
      ),
  })
}

const [transport = 'http', port = '0'] = process.argv.slice(2)
if (transport === 'stdio') serveStdio()
else await serveHttp(Number(port))
