import { expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { maxBytes as maxPackageBytes } from '../../src/dev/release/npm-package.ts'
import { lifetimes } from '../../src/oauth/tokens.ts'
import { defaultRetryPolicy } from '../../src/platform/client.ts'
import { requestMs } from '../../src/platform/time-limit.ts'
import { maxBytes } from '../../src/server/transports/http-limits.ts'
import { keptForMs, sameInBatchMs } from '../../src/state/call-journal.ts'
import { maxItemsPerCall } from '../../src/tool/bulk.ts'
import { listDefaults } from '../../src/tool/lists/list-result.ts'
import { maxAccounts } from '../../src/tool/lists/several-accounts.ts'
import { resultBudget } from '../../src/tool/results/shortening.ts'
import { documents, read, rowsUnder } from './documents.ts'

const prose = (document: string) => read(document).replaceAll(/\s+/g, ' ')
const dayMs = 24 * 3_600_000
const words: Readonly<Record<number, string>> = { 3: 'three', 5: 'five', 10: 'ten' }

/** Default of a setting in the generated table. */
function defaultOf(flag: string): number {
  const row = rowsUnder('docs/configuration.md', 'Settings').find(([cell = '']) =>
    cell.startsWith(`\`--${flag} `),
  )
  return Number(/default ([\d.]+)/.exec(row?.[2] ?? '')?.[1])
}

test.each([
  ['docs/calls.md', `takes at most ${requestMs / 1000} s`],
  ['docs/deployment.md', `Placing a call can take ${requestMs / 1000} s`],
  ['docs/deployment.md', `within ${requestMs / 1000} s`],
  ['docs/deployment.md', `for up to ${defaultOf('drain')} s (\`--drain\`)`],
  ['docs/deployment.md', `${maxBytes / 1024 ** 2} MiB of request bodies`],
  ['docs/calls.md', `the same call for ${words[sameInBatchMs / dayMs]} days`],
  ['docs/calls.md', `all calls of the last ${keptForMs / dayMs} days`],
  ['docs/security.md', `looks back ${keptForMs / dayMs} days`],
  ['docs/security.md', `tried ${words[defaultRetryPolicy.maxAttempts]} times at most`],
  ['docs/errors.md', `tried up to ${words[defaultRetryPolicy.maxAttempts]} times`],
  ['docs/errors.md', `obeyed up to ${defaultRetryPolicy.maxRetryAfterSeconds} s`],
  ['docs/tools.md', `at most about ${resultBudget.toLocaleString('en')} tokens`],
  ['docs/tools.md', `${listDefaults.limit} items by default`],
  ['docs/tools.md', `reads up to ${maxAccounts} accounts`],
  ['docs/tools.md', `up to ${maxItemsPerCall} a tool call`],
  ['docs/tools.md', `for ${words[defaultOf('catalog-ttl') / 60]} minutes (\`--catalog-ttl\`)`],
  ['docs/observability.md', `for ${defaultOf('audit-days')} days by default (\`--audit-days\`)`],
  ['docs/sandbox.md', `${words[defaultOf('sandbox-speed')]} times faster`],
  ['docs/connectors.md', `valid for ${lifetimes.interaction / 60} minutes`],
  ['docs/connectors.md', `after ${lifetimes.refreshToken / 86_400} days without use`],
  ['docs/releasing.md', `at most ${maxPackageBytes / 1e6} MB`],
])('%s has the figure of the source: %s', (document, text) => {
  expect(prose(document)).toContain(text)
})

test('documents ask for the Node.js of package.json', () => {
  const named = documents.flatMap((document) =>
    [...prose(document).matchAll(/(?<![.\d])(2\d\.\d+) or newer/g)].map(([, version]) => version),
  )
  expect(named.length).toBeGreaterThan(4)
  expect(new Set(named)).toEqual(new Set([packageJson.engines.node.replace('>=', '')]))
})

test('all proxies have one read timeout, longer than any response takes', () => {
  const times = documents.flatMap(
    (document) => read(document).match(/proxy_read_timeout .*/g) ?? [],
  )
  expect(times).toEqual(['proxy_read_timeout 1h;'])
  expect(prose('docs/connectors.md')).toContain('a read timeout of an hour')
})
