import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import * as z from 'zod'
import { readConfig, settings } from '../../src/cli/commands/index.ts'
import { httpConfig } from '../../src/cli/config/http.ts'
import { read } from './documents.ts'

const drainSeconds = httpConfig({}).drainMs / 1000

/** Environment variables that compose.yaml needs. */
const variables: Readonly<Record<string, string>> = {
  MCP_HOST: 'mcp.your-company.example',
  VOICE_AGENT_BASE_URL: 'https://api.your-platform.example',
  VOICE_AGENT_SECRET: 'a'.repeat(64),
  POSTGRES_PASSWORD: 'b'.repeat(64),
}

const composeText = read('docs/compose.yaml')
const Compose = z.object({
  services: z.object({
    server: z.looseObject({
      build: z.literal('..'),
      command: z.array(z.string()),
      environment: z.record(z.string(), z.string()),
      read_only: z.literal(true),
      mem_limit: z.literal('512m'),
      stop_grace_period: z.string().regex(/^\d+s$/),
    }),
    database: z.looseObject({ healthcheck: z.object({ test: z.array(z.string()) }).loose() }),
    proxy: z.looseObject({
      configs: z.array(z.object({ source: z.string(), target: z.string() })),
    }),
  }),
  configs: z.object({ caddyfile: z.object({ content: z.string() }) }),
})
const compose = Compose.parse(
  parse(composeText.replaceAll(/\$\{(\w+):\?\}/g, (_, name) => variables[name] ?? '')),
)

const Probe = z.looseObject({ httpGet: z.object({ path: z.string(), port: z.literal('mcp') }) })
const Server = z.looseObject({
  args: z.array(z.string()),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })),
  ports: z.tuple([z.object({ name: z.literal('mcp'), containerPort: z.number() })]),
  startupProbe: Probe,
  livenessProbe: Probe,
  readinessProbe: Probe,
  lifecycle: z.object({ preStop: z.object({ sleep: z.object({ seconds: z.number() }) }) }),
  resources: z.object({
    requests: z.object({ cpu: z.string(), memory: z.string() }),
    limits: z.object({ memory: z.literal('512Mi') }),
  }),
  securityContext: z.looseObject({ readOnlyRootFilesystem: z.literal(true) }),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
})
const Pod = z.looseObject({
  terminationGracePeriodSeconds: z.number(),
  securityContext: z.looseObject({ runAsNonRoot: z.literal(true), runAsUser: z.literal(1000) }),
  containers: z.tuple([Server]),
  volumes: z.array(z.looseObject({ name: z.string() })),
})
const Manifest = z.looseObject({
  kind: z.string(),
  spec: z.looseObject({ template: z.looseObject({ spec: Pod }).optional() }),
})
const manifests = parseAllDocuments(read('docs/k8s.yaml')).map((document) => {
  expect('errors' in document && document.errors).toEqual([])
  return Manifest.parse(document.toJS())
})

function podOf(): z.output<typeof Pod> {
  const pod = manifests.find(({ kind }) => kind === 'Deployment')?.spec.template?.spec
  if (!pod) throw new Error('k8s.yaml has no Deployment')
  return pod
}
const pod = podOf()
const [server] = pod.containers

/** Configuration of a server in a manifest. Throws if a setting is unknown. */
function configOf(args: readonly string[], env: Readonly<Record<string, string>>) {
  const known = Object.values(settings).map(({ variable }) => variable)
  expect(Object.keys(env).filter((name) => !known.includes(name))).toEqual([])
  const config = readConfig(args, env)
  if (config.command !== 'http') throw new Error(`the command is ${config.command}`)
  return config
}

/** Configuration of every server behind a proxy with a database. */
const shared = {
  listen: { host: '0.0.0.0', port: 3000 },
  allowedHosts: [variables.MCP_HOST],
  platform: { kind: 'network' },
  limits: { requests: { perAddress: 0 }, waits: { perAddress: 0 }, streams: { perAddress: 0 } },
}

describe('compose.yaml', () => {
  test('uses only variables that it explains', () => {
    const used = [...composeText.matchAll(/\$\{?(\w+)/g)].map(([, name]) => name)
    expect([...new Set(used)].sort()).toEqual(Object.keys(variables).sort())
    const explained = [...composeText.matchAll(/^# {3}(\w+)=/gm)].map(([, name]) => name)
    expect(explained.sort()).toEqual(Object.keys(variables).sort())
  })

  test('starts the server with settings that exist, behind the proxy and with the database', () => {
    const { command, environment, stop_grace_period } = compose.services.server
    const config = configOf(command, environment)
    expect(config).toMatchObject(shared)
    expect(config.limits.watchedPerAddress).toBe(0)
    expect(config.state).toMatchObject({
      databaseUrl: `postgres://voice:${variables.POSTGRES_PASSWORD}@database:5432/voice`,
      secrets: { texts: [variables.VOICE_AGENT_SECRET] },
    })
    expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(drainSeconds)
  })

  test('has a proxy that serves the allowed host, and finds the servers', () => {
    const { content } = compose.configs.caddyfile
    expect(content).toMatch(new RegExp(`^${variables.MCP_HOST} \\{$`, 'm'))
    expect(content).toMatch(/^ +dynamic a server 3000 \{$/m)
    expect(compose.services.proxy.configs).toEqual([
      { source: 'caddyfile', target: '/etc/caddy/Caddyfile' },
    ])
  })
})

describe('k8s.yaml', () => {
  test('starts the server with settings that exist, behind an ingress and with a database', () => {
    const secrets: Readonly<Record<string, string>> = {
      VOICE_AGENT_STATE_URL: 'postgres://voice:password@db.your-company.example/voice',
      VOICE_AGENT_SECRET: 'a'.repeat(32),
    }
    const env = server.env.map(({ name, value }) => [name, value ?? secrets[name] ?? ''])
    const config = configOf(server.args, Object.fromEntries(env))
    expect(config).toMatchObject(shared)
    expect(config.limits.watchedPerAddress).toBe(0)
    expect(config.state.databaseUrl).toBe(secrets.VOICE_AGENT_STATE_URL)
    expect(server.ports[0].containerPort).toBe(config.listen.port)
  })

  test('gets no environment variables of Services', () => {
    expect(pod.enableServiceLinks).toBe(false)
  })

  test('gives the server the time that it needs to stop', () => {
    const { seconds } = server.lifecycle.preStop.sleep
    expect(pod.terminationGracePeriodSeconds).toBe(75)
    expect(seconds + drainSeconds).toBeLessThan(pod.terminationGracePeriodSeconds)
  })

  test('has liveness and readiness probes at their own paths', () => {
    expect(server.livenessProbe.httpGet.path).toBe('/healthz')
    expect(server.startupProbe.httpGet.path).toBe('/healthz')
    expect(server.readinessProbe.httpGet.path).toBe('/readyz')
  })

  test('mounts volumes at the paths that the image writes to', () => {
    const names = pod.volumes.map(({ name }) => name)
    expect(server.volumeMounts.map(({ name }) => name).sort()).toEqual(names.sort())
    expect(server.volumeMounts.map(({ mountPath }) => mountPath)).toContain('/data')
  })

  test('exposes the pods that it deploys', () => {
    expect(manifests.map(({ kind }) => kind)).toEqual([
      'Deployment',
      'Service',
      'PodDisruptionBudget',
    ])
    for (const { spec } of manifests) {
      expect(JSON.stringify(spec.selector)).toContain('{"app":"voice-agent-mcp"}')
    }
  })
})
