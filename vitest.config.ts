import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

/** Tests that take long, or keep both cores busy. With them `npm test` would take over four minutes. */
const slow = [
  'test/calls/call-follower.test.ts',
  'test/calls/call-identity.test.ts',
  'test/calls/call-matching.test.ts',
  'test/calls/exactly-once.test.ts',
  'test/cli/commands/call.test.ts',
  'test/cli/commands/web-call-pages.test.ts',
  'test/cli/doctor/local.test.ts',
  'test/cli/doctor/platform.test.ts',
  'test/cli/home-page.test.ts',
  'test/cli/install/text-formats.property.test.ts',
  'test/cli/json-log.test.ts',
  'test/cli/program.test.ts',
  'test/cli/terminal/completion/shells.test.ts',
  'test/cli/terminal/tool-call.test.ts',
  'test/cli/unwritable-log.test.ts',
  'test/dev/docs-install-buttons.test.ts',
  'test/dev/imports.test.ts',
  'test/dev/release/desktop-bundle.test.ts',
  'test/dev/release/install-options.test.ts',
  'test/dev/terminal-recording.test.ts',
  'test/docs/skill.test.ts',
  'test/jinja/hostile-templates.test.ts',
  'test/labs/attack/attack.test.ts',
  'test/labs/jobs/main.test.ts',
  'test/labs/jobs/solutions.test.ts',
  'test/labs/simulate/simulate.test.ts',
  'test/mcp/hostile-text.test.ts',
  'test/mcp/http-differential.test.ts',
  'test/mcp/http-fast-path.test.ts',
  'test/mcp/resources.test.ts',
  'test/mcp/stdio-handshake.property.test.ts',
  'test/mcp/subscriptions.test.ts',
  'test/mcp/tasks.test.ts',
  'test/mcp/views.test.ts',
  'test/oauth/client-documents.test.ts',
  'test/oauth/guarded-fetch/guarded-fetch.test.ts',
  'test/oauth/interactions.test.ts',
  'test/oauth/per-network-limits.test.ts',
  'test/oauth/public-address.test.ts',
  'test/oauth/sdk-clients.test.ts',
  'test/oauth/sealed-state.test.ts',
  'test/oauth/tokens.test.ts',
  'test/platform/built-network.test.ts',
  'test/platform/sessions/restricted-session.test.ts',
  'test/sandbox/fuzz/fuzz.test.ts',
  'test/sandbox/durability.test.ts',
  'test/sandbox/faults.test.ts',
  'test/server/audit/audit-outages.test.ts',
  'test/server/audit/audited-calls.test.ts',
  'test/server/observe/tool-call-records.test.ts',
  'test/server/transports/exposed-tools.test.ts',
  'test/server/transports/http-limits.test.ts',
  'test/server/transports/http-pressure.test.ts',
  'test/server/transports/http-probes.test.ts',
  'test/server/transports/local-token.test.ts',
  'test/server/transports/metrics.test.ts',
  'test/server/transports/shutdown.test.ts',
  'test/server/transports/stdio-pressure.test.ts',
  'test/server/transports/stdio-protocol.test.ts',
  'test/state/restart.test.ts',
  'test/tool/coercion.test.ts',
  'test/tool/confirm-mode.test.ts',
  'test/tool/lists/list-fields.test.ts',
  'test/tool/lists/subaccount-list.test.ts',
  'test/tool/lists/why-empty.test.ts',
  'test/tool/prototype-names.test.ts',
  'test/tool/references/names-to-ids.test.ts',
  'test/tool/single-use-tokens.test.ts',
  'test/tools/agents/agent-undo.test.ts',
  'test/tools/agents/agents-in-tree.test.ts',
  'test/tools/agents/archive-agents.test.ts',
  'test/tools/agents/update-many-agents.test.ts',
  'test/tools/calls/call-batches.test.ts',
  'test/tools/calls/call-review.test.ts',
  'test/tools/calls/check-call-readiness.test.ts',
  'test/tools/calls/concurrent-calls.test.ts',
  'test/tools/calls/dial-policy.test.ts',
  'test/tools/calls/place-calls.test.ts',
  'test/tools/calls/stop-calls.test.ts',
  'test/tools/calls/wait-for-call.test.ts',
  'test/tools/conversations/list-conversations.test.ts',
  'test/tools/drifted-replies.test.ts',
  'test/tools/every-tool.test.ts',
  'test/tools/tokens.test.ts',
  'test/tools/undo.test.ts',
  'test/tools/usage/get-usage.test.ts',
]

/** Tests with a real PostgreSQL. They run one after the other: each starts several servers. */
const postgres = ['test/postgres/*.test.ts']
/** Tests with a real Chromium. */
const browser = ['test/browser/*.test.ts']
/** Tests with the SDK of OpenTelemetry. */
const traces = ['test/traces/*.test.ts']
/** Tests of the examples. */
const examples = ['test/examples/*.test.ts']
/** Tests that install packages in a clone. They run after the others, some of which measure time. */
const clones = ['test/docs/commands.test.ts', 'test/docs/dockerfile.test.ts']

/**
 * Tests that run together, with those of other projects of the same order. `setup` installs packages
 * that only they need, from a manifest of its own.
 */
const project = (
  name: string,
  include: string[],
  groupOrder: number,
  { setup = [], ...more }: { setup?: string[]; exclude?: string[]; fileParallelism?: boolean } = {},
): TestProjectInlineConfiguration => ({
  test: {
    name,
    include,
    globalSetup: ['test/harness/build.ts', ...setup],
    sequence: { groupOrder },
    // Most tests wait for a program they have started, so more of them run at once than there are
    // cores.
    maxWorkers: 3,
    // A busy machine may need more than the usual second.
    expect: { poll: { timeout: 30_000 } },
    // They only end what hangs: a test that measures time says so itself.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    ...more,
  },
})

/** `npm test` runs the project `fast`, `npm run test:slow` all others. */
export default defineConfig({
  test: {
    projects: [
      project('fast', ['test/**/*.test.ts'], 0, {
        exclude: [
          ...configDefaults.exclude,
          ...[slow, postgres, browser, traces, examples, clones].flat(),
        ],
      }),
      project('slow', slow, 0),
      project('traces', traces, 0, { setup: ['test/traces/install.ts'] }),
      project('postgres', postgres, 1, {
        setup: ['test/postgres/install.ts'],
        fileParallelism: false,
      }),
      project('browser', browser, 2, {
        setup: ['test/browser/install.ts'],
        fileParallelism: false,
      }),
      project('examples', examples, 3, { setup: ['test/examples/install.ts'] }),
      project('clone', clones, 4),
    ],
  },
})
