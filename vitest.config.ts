import { configDefaults, defineConfig } from 'vitest/config'

/**
 * Tests that take long, or keep both cores busy: `npm run test:slow` runs them, and so does CI. With
 * them `npm test` would take more than four minutes.
 */
export const slow = [
  'test/api/built-network.test.ts',
  'test/audit/audit-outages.test.ts',
  'test/audit/audited-calls.test.ts',
  'test/calls/call-follower.test.ts',
  'test/calls/call-identity.test.ts',
  'test/calls/exactly-once.test.ts',
  'test/cli/commands/call.test.ts',
  'test/cli/doctor/local.test.ts',
  'test/cli/doctor/platform.test.ts',
  'test/cli/install/text-formats.property.test.ts',
  'test/cli/json-log.test.ts',
  'test/cli/site.test.ts',
  'test/cli/terminal/completion/shells.test.ts',
  'test/cli/terminal/run-call.test.ts',
  'test/cli/unwritable-log.test.ts',
  'test/docs/skill.test.ts',
  'test/dev/docs/install-links.test.ts',
  'test/dev/attack.test.ts',
  'test/cli/web-call-server.test.ts',
  'test/dev/imports/check.test.ts',
  'test/dev/recording.test.ts',
  'test/dev/release/bundle.test.ts',
  'test/dev/release/install-options.test.ts',
  'test/dev/simulate/simulate.test.ts',
  'test/flows/agents/agents-in-tree.test.ts',
  'test/flows/calls/call-batches.test.ts',
  'test/flows/calls/calls-at-once.test.ts',
  'test/flows/calls/place-calls.test.ts',
  'test/flows/calls/wait-for-call.test.ts',
  'test/flows/lists/subaccount-list.test.ts',
  'test/flows/usage/get-usage.test.ts',
  'test/jinja/hostile-templates.test.ts',
  'test/jobs/main.test.ts',
  'test/jobs/shortest-way.test.ts',
  'test/mcp/call/confirm-mode.test.ts',
  'test/mcp/call/read-as-meant.test.ts',
  'test/mcp/canary.test.ts',
  'test/mcp/fast/http-differential.test.ts',
  'test/mcp/fast/stdio-handshake.property.test.ts',
  'test/mcp/hints/why-empty.test.ts',
  'test/mcp/protocol/views.test.ts',
  'test/oauth/document-clients.test.ts',
  'test/oauth/guarded-fetch/guarded-fetch.test.ts',
  'test/oauth/interactions.test.ts',
  'test/oauth/public-address.test.ts',
  'test/oauth/sdk-clients.test.ts',
  'test/oauth/tokens.test.ts',
  'test/observe/tool-call-records.test.ts',
  'test/sandbox/durability.test.ts',
  'test/sandbox/fuzz.test.ts',
  'test/session/restricted-session.test.ts',
  'test/state/restart.test.ts',
  'test/state/sqlite/locked-journal.test.ts',
  'test/tools/every-tool.test.ts',
  'test/tools/tokens.test.ts',
  'test/transports/exposure.test.ts',
  'test/transports/http-limits.test.ts',
  'test/transports/http-pressure.test.ts',
  'test/transports/local-token.test.ts',
  'test/transports/metrics.test.ts',
  'test/transports/shutdown.test.ts',
  'test/transports/stdio-pressure.test.ts',
  'test/transports/stdio-protocol.test.ts',
]

/** Tests with a real PostgreSQL, which is installed before them, from a manifest of its own. */
export const real = ['test/real/*.test.ts']

/** Tests with a real Chromium, which is installed before them, from a manifest of its own. */
export const browser = ['test/browser/*.test.ts']

/** Tests with the SDK of OpenTelemetry, which is installed before them, from a manifest of its own. */
export const traces = ['test/traces/*.test.ts']

/** Tests of the examples, some with packages that are installed before them, from their manifests. */
export const examples = ['test/examples/*.test.ts']

/** Tests that install packages in a clone. They run after the others, some of which measure time. */
export const clones = ['test/docs/commands.test.ts', 'test/docs/dockerfile.test.ts']

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      ...configDefaults.exclude,
      ...slow,
      ...real,
      ...browser,
      ...traces,
      ...examples,
      ...clones,
    ],
    globalSetup: ['test/harness/build.ts'],
    // Most tests wait for a program they have started, so more of them run at once than there are
    // cores.
    maxWorkers: 3,
    // A busy machine may need more than the usual second.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
})
