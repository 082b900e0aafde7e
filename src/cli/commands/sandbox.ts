import { listenConfig, listenSettings, requireHosts } from '../config/http.ts'
import { sandboxConfig, sandboxSettings } from '../config/sandbox.ts'
import { logConfig, logSettings } from '../config/service-settings.ts'
import { flag, settingReader, text } from '../config/setting.ts'
import { log, setUpLog } from '../observability.ts'
import { defineCommand, type Running } from './command.ts'

const ownSettings = {
  faults: text({
    variable: 'VOICE_AGENT_SANDBOX_FAULTS',
    value: 'FILE',
    help: 'JSON file of fault rules (see docs/sandbox.md).',
  }),
  fixture: text({
    value: 'FILE',
    help: 'JSON file of the data of a new sandbox (see docs/sandbox.md).',
  }),
  reset: flag('Delete the data of the sandbox, and fill it again.'),
}

export const sandbox = defineCommand({
  name: 'sandbox',
  about: "Serve the sandbox as the platform's REST API, for programs that use it directly.",
  examples: ['sandbox --port 8080', 'sandbox --sandbox-db :memory: --sandbox-speed 60'],
  settings: { ...listenSettings, ...sandboxSettings, ...logSettings, ...ownSettings },
  read({ texts }) {
    const value = settingReader(ownSettings, texts)
    const listening = listenConfig(texts, 8080)
    requireHosts(listening)
    return {
      ...listening,
      sandbox: sandboxConfig(texts),
      faultsFile: value('faults'),
      fixtureFile: value('fixture'),
      isReset: value('reset'),
      log: logConfig(texts),
    }
  },
  async start({ log: logOptions, ...config }): Promise<Running> {
    setUpLog(logOptions)
    const { startSandboxServer } = await import('../sandbox-server.ts')
    const server = await startSandboxServer(config)
    const { sandbox, isReset, fixtureFile, faultsFile } = config
    log(`Sandbox data: ${sandbox.file}`)
    if (isReset) log('What it held before is removed.')
    if (fixtureFile) log(`Filled with ${fixtureFile}`)
    if (faultsFile) log(`Failing by the rules in ${faultsFile}`)
    log(`Serving the sandbox API at ${server.url}/v1 (X-API-Key: sandbox-key)`)
    log(`OpenAPI document: ${server.url}/v1/openapi.json`)
    return { done: new Promise(() => {}), close: () => server.close() }
  },
})
