import { describe, expect, test } from 'vitest'
import { type CommandConfig, readConfig, settings } from '../../../src/cli/commands/index.ts'
import { ConfigError } from '../../../src/cli/config/config-error.ts'
import { requestMs } from '../../../src/platform/time-limit.ts'
import { readPolicy } from '../../../src/server/call-services.ts'
import { confirmModes } from '../../../src/tool/confirm-mode.ts'

const key = { VOICE_AGENT_API_KEY: 'k' }
const url = { VOICE_AGENT_BASE_URL: 'https://api.example.com' }

function platform(env: Record<string, string>, argv: string[] = []) {
  const config = readConfig(argv, env)
  if (!('platform' in config)) throw new Error(`No platform in ${config.command}`)
  return config.platform
}

function network(env: Record<string, string>, argv: string[] = []) {
  const found = platform({ ...key, ...url, ...env }, argv)
  if (found.kind !== 'network') throw new Error('Expected the real platform')
  return found
}

describe('key and address', () => {
  test('neither: the sandbox', () => {
    expect(platform({})).toMatchObject({ kind: 'sandbox', speed: 10 })
  })

  test('both: the platform', () => {
    const found = network({})
    expect(found.baseUrl.href).toBe('https://api.example.com/')
    expect(found).toMatchObject({
      kind: 'network',
      apiKey: 'k',
      headersTimeoutMs: 10_000,
      totalTimeoutMs: 30_000,
    })
  })

  test.each([
    ['a key without an address', key, [], / VOICE_AGENT_BASE_URL /],
    ['an address without a key', url, [], / VOICE_AGENT_API_KEY /],
    ['a key without an address over HTTP', key, ['http'], / VOICE_AGENT_BASE_URL /],
  ])('%s is an error, never the sandbox', (_, env, argv, message) => {
    expect(() => readConfig(argv, env)).toThrow(message)
    expect(() => readConfig(argv, env)).toThrow(ConfigError)
  })

  test('over HTTP the address alone is enough: each request brings its key', () => {
    expect(platform(url, ['http'])).toMatchObject({ kind: 'network', apiKey: undefined })
  })

  test('empty and blank mean not set, as desktop clients write it', () => {
    expect(platform({ VOICE_AGENT_API_KEY: '', VOICE_AGENT_BASE_URL: '  ' }).kind).toBe('sandbox')
  })

  test('an option of a desktop bundle that is left empty means not set', () => {
    const empty = `\${user_config.an_option}`
    const both = { VOICE_AGENT_API_KEY: empty, VOICE_AGENT_BASE_URL: ` ${empty} ` }
    expect(platform(both).kind).toBe('sandbox')
    expect(() => platform({ ...url, VOICE_AGENT_API_KEY: empty })).toThrow(/ VOICE_AGENT_API_KEY /)
    expect(() => platform({ ...key, VOICE_AGENT_BASE_URL: empty })).toThrow(
      / VOICE_AGENT_BASE_URL /,
    )
    expect(() => readConfig([], { VOICE_AGENT_DIAL_POLICY: empty })).toThrow(
      /\(VOICE_AGENT_DIAL_POLICY\)/,
    )
    expect(() => readConfig([], { VOICE_AGENT_CONFIG: empty })).not.toThrow()
  })

  test('another placeholder that a client did not fill in is an error', () => {
    for (const text of [`\${input:key}`, `\${env:KEY}`, `\${user_config.a}-\${user_config.b}`]) {
      expect(() => platform({ ...url, VOICE_AGENT_API_KEY: text })).toThrow(
        `VOICE_AGENT_API_KEY is ${text}:`,
      )
    }
  })

  test.each(['a b', 'ключ', 'a\nb'])('%j is not a key', (text) => {
    expect(() => platform({ ...url, VOICE_AGENT_API_KEY: text })).toThrow(/^VOICE_AGENT_API_KEY /)
  })

  test('a local token is not a key', () => {
    const token = `voice-agent-mcp-local-${'a'.repeat(43)}`
    expect(() => platform({ ...url, VOICE_AGENT_API_KEY: token })).toThrow(
      /^(?!.*aaa)VOICE_AGENT_API_KEY /,
    )
  })

  test('an error never repeats a key in the wrong variable', () => {
    const env = { ...key, VOICE_AGENT_BASE_URL: 'sk-live-secret' }
    expect(() => readConfig([], env)).toThrow(/^(?!.*sk-live)/)
  })

  test('an error never repeats the key', () => {
    const secret = 'secret value'
    for (const env of [{ VOICE_AGENT_API_KEY: secret }, { ...url, VOICE_AGENT_API_KEY: secret }]) {
      expect(() => readConfig([], env)).toThrow(/^(?!.*secret value)/)
    }
  })
})

describe('a variable that is no setting', () => {
  test.each([
    ['VOICE_AGENT_READONLY', 'VOICE_AGENT_READ_ONLY'],
    ['VOICE_AGENT_APIKEY', 'VOICE_AGENT_API_KEY'],
    ['VOICEAGENT_API_KEY', 'VOICE_AGENT_API_KEY'],
    ['VOICE_AGNET_API_KEY', 'VOICE_AGENT_API_KEY'],
    ['voice_agent_api_key', 'VOICE_AGENT_API_KEY'],
    ['VOICE_AGENT_DAIL_POLICY', 'VOICE_AGENT_DIAL_POLICY'],
    ['VOICE_AGENT_EXCLUDE_TOOL', 'VOICE_AGENT_EXCLUDE_TOOLS'],
    ['VOICE_AGENT_TOKEN', 'VOICE_AGENT_API_KEY'],
    ['VOICE_AGENT_MCP_API_KEY', 'VOICE_AGENT_API_KEY'],
    ['VOICE_AGENT_URL', 'VOICE_AGENT_BASE_URL'],
    ['VOICE_AGENT_MCP_READ_ONLY', 'VOICE_AGENT_READ_ONLY'],
    ['VOICE_AGENT_MCP_READONLY', 'VOICE_AGENT_READ_ONLY'],
    ['VOICE_AGENT_MCP_LOG_LEVEL', 'VOICE_AGENT_LOG_LEVEL'],
    ['VOICE_AGENT_MCP_PORT', 'VOICE_AGENT_PORT'],
    ['VOICE_AGENT_READ_ONLY_MODE', 'VOICE_AGENT_READ_ONLY'],
    ['VOICE_AGENT_READONLY_MODE', 'VOICE_AGENT_READ_ONLY'],
    ['VOICEAGENT_FORCE_READ_ONLY', 'VOICE_AGENT_READ_ONLY'],
    ['VOICE_AGENT_ENABLED_TOOLSETS', 'VOICE_AGENT_TOOLSETS'],
    ['VOICE_AGENT_ALLOWED_TOOLS', 'VOICE_AGENT_TOOLS'],
    ['VOICE_AGENT_EXCLUDE_TOOLS_LIST', 'VOICE_AGENT_EXCLUDE_TOOLS'],
    ['VOICE_AGENT_DIAL_POLICY_FILE', 'VOICE_AGENT_DIAL_POLICY'],
    ['VOICE_AGENT_CONFIRM_MODE', 'VOICE_AGENT_CONFIRM'],
    ['VOICE_AGENT_ACCOUNT_ID', 'VOICE_AGENT_ACCOUNT'],
    ['VOICE_AGENT_ALLOWED_HOSTS_LIST', 'VOICE_AGENT_ALLOWED_HOSTS'],
    ['VOICE_AGENT_HTTP_ALLOWED_ORIGINS', 'VOICE_AGENT_ALLOWED_ORIGINS'],
    ['VOICE_AGENT_ON_AUDIT_FAILURE', 'VOICE_AGENT_AUDIT_FAILURE'],
    ['VOICE_AGENT_HTTP_MAX_RATE_PER_KEY', 'VOICE_AGENT_MAX_RATE_PER_KEY'],
  ])('but nearly one, such as %s, is refused, and not repeated', (name, meant) => {
    for (const command of ['stdio', 'http', 'config', 'tools']) {
      const read = () => readConfig([command], { [name]: 'secret-1' })
      expect(read).toThrow(ConfigError)
      expect(read).toThrow(new RegExp(`^(?!.*secret-1).*${meant}\\b`))
    }
  })

  test.each(['VOICE_AGENT_TOKEN', 'VOICE_AGENT_URL'])(
    'and only resembles one that is set, such as %s, is reported',
    (name) => {
      const config = readConfig([], { ...key, ...url, [name]: 'secret-1' })
      expect(config).toMatchObject({ warnings: [expect.stringContaining(name)] })
      expect(JSON.stringify(config)).not.toContain('secret-1')
    },
  )

  test.each(['VOICE_AGENT_COLOUR', 'VOICE_AGENT_TEAM_NAME', 'VOICE_AGENT_MCP_READERS'])(
    '%s is reported',
    (name) => {
      const config = readConfig(['http'], { [name]: 'blue' })
      expect(config).toMatchObject({ warnings: [expect.stringContaining(name)] })
    },
  )

  test.each([
    ['VOICE_AGENT_READONLY', ' '],
    ['SSH_AGENT_PID', '17'],
    ['INVOICE_API_KEY', 'k'],
  ])('%s with %j means nothing', (name, value) => {
    expect(readConfig([], { [name]: value })).toMatchObject({ warnings: [] })
  })

  test.each(['voice-agent', 'voice-agent-mcp', 'voice-agent-metrics', 'voice-agent-tools'])(
    'of a Service named %s in Kubernetes neither stops nor sets anything',
    (service) => {
      const start = service.toUpperCase().replaceAll('-', '_')
      const injected = {
        [`${start}_SERVICE_HOST`]: '10.0.0.17',
        [`${start}_SERVICE_PORT`]: '3000',
        [`${start}_SERVICE_PORT_MCP`]: '3000',
        [`${start}_PORT`]: 'tcp://10.0.0.17:3000',
        [`${start}_PORT_3000_TCP`]: 'tcp://10.0.0.17:3000',
        [`${start}_PORT_3000_TCP_PROTO`]: 'tcp',
        [`${start}_PORT_3000_TCP_PORT`]: '3000',
        [`${start}_PORT_3000_TCP_ADDR`]: '10.0.0.17',
      }
      const read = (env: Record<string, string>) => JSON.stringify(readConfig(['http'], env))
      expect(read(injected)).toBe(read({}))
      expect(read({ ...injected, VOICE_AGENT_READ_ONLY: 'true' })).toBe(
        read({ VOICE_AGENT_READ_ONLY: 'true' }),
      )
    },
  )
})

describe('the address', () => {
  test.each([
    ['https://api.example.com/', 'https://api.example.com/'],
    ['https://api.example.com/v1', 'https://api.example.com/'],
    ['https://api.example.com/v1/', 'https://api.example.com/'],
    ['https://example.com/voice/v1', 'https://example.com/voice'],
    ['https://example.com//evil.example/api', 'https://example.com/evil.example/api'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/'],
    ['http://localhost:8080', 'http://localhost:8080/'],
    ['http://[::1]:8080', 'http://[::1]:8080/'],
  ])('%s is read as %s', (given, taken) => {
    expect(network({ VOICE_AGENT_BASE_URL: given }).baseUrl.href).toBe(taken)
  })

  test.each([
    ['http://api.example.com', / api\.example\.com,/],
    ['http://127.0.0.1.example.com', / 127\.0\.0\.1\.example\.com,/],
    ['http://10.0.0.1', / 10\.0\.0\.1,/],
    ['ftp://example.com', /https:\/\/\.$/],
    ['api.example.com', /https:\/\/\.$/],
    ['https://u:p@example.com', /VOICE_AGENT_API_KEY/],
    ['https://example.com/?x=1', / \? .* #\.$/],
  ])('%s is refused', (given, message) => {
    expect(() => network({ VOICE_AGENT_BASE_URL: given })).toThrow(message)
  })

  test('a proxy is used for https only', () => {
    const proxy = { HTTPS_PROXY: 'http://proxy.example:3128' }
    expect(network({ ...proxy, NO_PROXY: '.internal' }).proxy).toEqual({
      url: 'http://proxy.example:3128',
      except: '.internal',
    })
    for (const own of ['http://localhost:1', 'https://localhost:1', 'https://127.0.0.1']) {
      expect(network({ ...proxy, VOICE_AGENT_BASE_URL: own }).proxy).toBeUndefined()
    }
    expect(() => network({ HTTPS_PROXY: '127.0.0.1:3128' })).toThrow(/^HTTPS_PROXY /)
  })
})

describe('what assistants get', () => {
  const scope = (argv: string[], env: Record<string, string> = {}) => {
    const config = readConfig(argv, env)
    if (!('scope' in config)) throw new Error(`No scope in ${config.command}`)
    return config.scope
  }

  const watched = { inAll: 2500, perKey: 250 }

  test('is everything, of any account, by default', () => {
    expect(scope([])).toEqual({ account: undefined, exposure: {}, catalogMs: 300_000, watched })
    expect(scope(['http'], { VOICE_AGENT_ACCOUNT: ' ', VOICE_AGENT_TOOLS: '' })).toEqual(scope([]))
  })

  test('is set by flags and by variables alike', () => {
    const expected = {
      account: 'a1',
      catalogMs: 300_000,
      watched,
      exposure: {
        toolsets: 'agents,calls',
        tools: 'get_usage',
        excludeTools: 'place_call',
        readOnly: 'true',
      },
    }
    const flags = ['--account=a1', '--toolsets=agents,calls', '--tools', 'get_usage']
    expect(scope([...flags, '--exclude-tools', 'place_call', '--read-only', 'http'])).toEqual(
      expected,
    )
    expect(
      scope([], {
        VOICE_AGENT_ACCOUNT: 'a1',
        VOICE_AGENT_TOOLSETS: 'agents,calls',
        VOICE_AGENT_TOOLS: 'get_usage',
        VOICE_AGENT_EXCLUDE_TOOLS: 'place_call',
        VOICE_AGENT_READ_ONLY: 'true',
      }),
    ).toEqual(expected)
  })

  test('a switch wins over its variable too', () => {
    const { exposure } = scope(['--read-only'], { VOICE_AGENT_READ_ONLY: 'false' })
    expect(exposure.readOnly).toBe('true')
  })
})

describe('the command line', () => {
  const command = (...argv: string[]) => readConfig(argv, {})

  test('nothing means stdio', () => {
    expect(command()).toMatchObject({ command: 'stdio' })
    expect(command('stdio')).toMatchObject({ command: 'stdio' })
  })

  test('http listens on loopback by default', () => {
    expect(command('http')).toMatchObject({ listen: { host: '127.0.0.1', port: 3000 } })
    expect(command('http', '--host', '0.0.0.0', '--port=0', '--allowed-hosts=*')).toMatchObject({
      listen: { host: '0.0.0.0', port: 0 },
    })
    expect(command('http', '--allowed-hosts', 'a.example, b.example')).toMatchObject({
      allowedHosts: ['a.example', 'b.example'],
    })
  })

  test('a sandbox that other machines reach names its hosts, or allows any', () => {
    const open = ['http', '--host', '0.0.0.0']
    expect(() => readConfig(open, {})).toThrow(/ 0\.0\.0\.0 .*--allowed-hosts/)
    for (const hosts of ['*', 'a.example']) {
      expect(command(...open, '--allowed-hosts', hosts)).toMatchObject({ allowedHosts: [hosts] })
    }
    expect(() => command('sandbox', '--host', '0.0.0.0')).toThrow(/ 0\.0\.0\.0 .*--allowed-hosts/)
    // With a platform, each request must contain an API key, so hosts need not be restricted.
    expect(readConfig(open, url)).toMatchObject({ allowedHosts: [] })
  })

  test('proxies in front of the server are addresses and networks', () => {
    const proxies = (text: string) => readConfig(['http'], { VOICE_AGENT_TRUSTED_PROXIES: text })
    expect(proxies(' 10.0.0.0/8, ::1 ')).toMatchObject({
      trustedProxies: [
        { address: '10.0.0.0', family: 'ipv4', prefix: 8 },
        { address: '::1', family: 'ipv6', prefix: 128 },
      ],
    })
    expect(proxies('')).toMatchObject({ trustedProxies: [] })
    for (const wrong of ['all', '10.0.0.0/33', '10.0.0.0/8/8', 'fd00::/129', '10.0.0.0/', '10.0/8'])
      expect(() => proxies(`127.0.0.1,${wrong}`), wrong).toThrow(
        new RegExp(`^--trusted-proxies \\(VOICE_AGENT_TRUSTED_PROXIES\\) .* ${wrong}\\.$`),
      )
  })

  test('the local token is required unless it is switched off', () => {
    expect(command('http')).toMatchObject({ wantsLocalToken: true })
    expect(command('http', '--local-token', 'off')).toMatchObject({ wantsLocalToken: false })
    const VOICE_AGENT_LOCAL_TOKEN = 'my-secret'
    expect(() => readConfig(['http'], { VOICE_AGENT_LOCAL_TOKEN })).toThrow(
      /^(?!.*my-secret)--local-token \(VOICE_AGENT_LOCAL_TOKEN\) /,
    )
  })

  test('a flag wins over its variable', () => {
    const config = readConfig(['sandbox', '--port', '5'], { VOICE_AGENT_PORT: '6' }) as Extract<
      CommandConfig,
      { command: 'sandbox' }
    >
    expect(config.listen.port).toBe(5)
  })

  test('seconds become milliseconds', () => {
    expect(network({ VOICE_AGENT_TIMEOUT: '1.5' }, ['--headers-timeout', '0.5'])).toMatchObject({
      totalTimeoutMs: 1500,
      headersTimeoutMs: 500,
    })
  })

  test.each([
    [['--prot', '3'], /--prot/],
    [['serve'], / serve; .* stdio, http, sandbox/],
    [['http', 'extra'], / extra\.$/],
    [['list_agents'], / list_agents; .* voice-agent-mcp call list_agents\.$/],
    [['call', '--json', 'list_agents'], /^--json .* call, .*: voice-agent-mcp call TOOL \[--arg/],
    [['call', '--agent-id', 'x', 'get_agent'], /'--agent-id'.*: voice-agent-mcp call TOOL \[--arg/],
    [['sandbox', '--json'], /^--json .* sandbox, .* tools\.$/],
    [['--port', '5'], /^--port .* stdio, .* http and sandbox /],
    [['sandbox', '--base-url', 'https://x.example'], /^--base-url .* sandbox, /],
    [['http', '--port', '70000'], /^--port \(VOICE_AGENT_PORT\) .* 0 to 65535, not 70000\.$/],
    [['http', '--port', '1.5'], / 0 to 65535, not 1\.5\.$/],
    [['http', '--port', 'x'], / 0 to 65535, not x\.$/],
    [['--sandbox-speed', '0'], /--sandbox-speed/],
    [['http', '--port'], /--port/],
    [['--account', 'a/b'], /^--account \(VOICE_AGENT_ACCOUNT\) (?!.*a\/b)/],
    [['--account', 'a,b'], /^--account \(/],
    [['--account', '..'], /^--account \(/],
    [['--read-only=no'], /'--read-only'/],
    [['sandbox', '--read-only'], /^--read-only .* sandbox, .* stdio and http /],
  ])('%j is refused with the reason', (argv, message) => {
    expect(() => readConfig(argv, {})).toThrow(message)
    expect(() => readConfig(argv, {})).toThrow(ConfigError)
  })

  test.each([
    [['--help'], undefined, false],
    [['help'], undefined, false],
    [['http', '--help'], 'http', false],
    [['help', 'http'], 'http', false],
    [['call', '-h'], 'call', false],
    [['--help', 'all'], undefined, true],
    [['help', 'all'], undefined, true],
    [['http', '--help', 'all'], 'http', true],
    [['help', 'http', 'all'], 'http', true],
    [['call', '--help', 'all'], 'call', true],
    [['--port', '1', 'http', '--help'], 'http', false],
  ])('%j asks for help about %s, with every option: %s', (argv, about, wantsAll) => {
    expect(command(...argv)).toEqual({ command: 'help', about, wantsAll })
  })

  test.each([
    [['help', 'call', 'place_call']],
    [['--help', 'call', 'place_call']],
    [['call', '--help', 'place_call']],
    [['help', 'tools', 'place_call']],
  ])('%j shows that tool', (argv) => {
    expect(command(...argv)).toMatchObject({ command: 'tools', tool: 'place_call' })
  })

  test.each([[['help', 'htp']], [['help', 'install', 'zed']], [['help', 'call', 'a', 'b']]])(
    '%j is refused',
    (argv) => {
      expect(() => readConfig(argv, {})).toThrow(ConfigError)
    },
  )

  test('help says how long placing takes at most, whatever the settings', () => {
    const seconds = new RegExp(`\\b${requestMs / 1000}\\b`)
    for (const name of ['timeout', 'call-find-out', 'drain'] as const)
      expect(settings[name]?.help, name).toMatch(seconds)
  })

  test('help lists the toolsets', () => {
    expect(settings.toolsets?.help).toMatch(/.*accounts, .*agents, .*calls, .*usage/)
  })
})

describe('how calls are placed', () => {
  const calling = (argv: string[], env = {}) => {
    const config = readConfig(argv, env)
    return 'calling' in config ? config.calling : undefined
  }
  const stateOf = (argv: string[], env = {}) => {
    const config = readConfig(argv, env)
    return 'state' in config ? config.state : undefined
  }

  test('asks by default where a client can ask, and keeps state in the data folder of the user', () => {
    expect(calling([])).toMatchObject({
      confirm: 'auto',
      policy: undefined,
      timing: { findOutMs: 20_000, settledMs: 120_000 },
    })
    expect(stateOf([])?.dir).toMatch(/voice-agent-mcp/)
    expect(stateOf(['--sandbox-db', ':memory:'])?.dir).toBe(':memory:')
  })

  test('is set by flags and by variables alike', () => {
    expect(calling(['--confirm', 'never'])?.confirm).toBe('never')
    expect(calling([], { VOICE_AGENT_CONFIRM: 'always' })?.confirm).toBe('always')
    expect(calling(['--confirm', 'person'])?.confirm).toBe('person')
    expect(() => calling(['--confirm', 'sometimes'])).toThrow(
      new RegExp(`^--confirm .* ${confirmModes.join(', ')}, not sometimes\\.$`),
    )
    expect(calling(['--dial-policy', 'policy.json'])?.policy).toBe('policy.json')
    const text = calling([], { VOICE_AGENT_DIAL_POLICY: ' {"max_total":1}' })?.policy
    expect(readPolicy(text)).toMatchObject({
      config: { max_total: 1 },
      source: expect.stringContaining('--dial-policy'),
    })
    expect(stateOf(['--state-dir', '/s'])?.dir).toBe('/s')
    expect(calling(['--call-settle', '7'])).toMatchObject({
      timing: { settledMs: 7000 },
    })
  })

  test('is an error if the policy is set, but empty', () => {
    for (const command of [[], ['http']]) {
      for (const blank of ['', ' ', '\n']) {
        const message = /^--dial-policy \(VOICE_AGENT_DIAL_POLICY\) .*\{\} /
        expect(() => calling(command, { VOICE_AGENT_DIAL_POLICY: blank })).toThrow(message)
        expect(() => calling([...command, `--dial-policy=${blank}`])).toThrow(message)
      }
    }
    // The sandbox places no real calls, so it needs no dial policy.
    expect(readConfig(['sandbox'], { VOICE_AGENT_DIAL_POLICY: '' }).command).toBe('sandbox')
  })
})
