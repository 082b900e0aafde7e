import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../text/safe-text.ts'
import type { Environment } from '../config/given-settings.ts'
import type { UsableConfig } from '../config/service-settings.ts'
import { textWidth } from '../terminal/terminal-io.ts'
import { contractCheck, firstReplyChecks } from './api-checks.ts'
import {
  type Check,
  type Finding,
  notConfigured,
  platformCheckTitles,
  type Result,
  red,
  seeOther,
} from './findings.ts'
import {
  callsCheck,
  clientsCheck,
  configurationCheck,
  nodeCheck,
  type ShownSetting,
  sandboxFinding,
  stateCheck,
} from './local-checks.ts'
import { networkChecks, platformCheck } from './network-checks.ts'
import { openPlatformSession } from './platform-session.ts'
import { resultLines, resultsJson, secretFree, summary, worst } from './report.ts'

/** Timeout of one check, ms; longer than the timeout of the check's requests. */
const longestCheckMs = 30_000

/** Runs all checks concurrently, prints the results and returns the exit code. */
export async function runDoctor(config: DoctorConfig): Promise<number> {
  const platform = await platformChecks(config)
  const isSandbox = config.platform?.kind !== 'network'
  const checks = [
    configurationCheck(config.settings, config.faults, config.warnings),
    nodeCheck(config.version),
    ...platform.checks,
    stateCheck(config, isSandbox),
    callsCheck(config, isSandbox),
    clientsCheck(config.env, config.serverName),
  ]
  const free = secretFree(config)
  const running = checks.map((check) => ({
    title: check.title,
    result: resultOf(check).then(free),
  }))
  const results = config.wantsJson
    ? await Promise.all(running.map(({ result }) => result))
    : await printed(running, textWidth(config.env) ?? usualWidth)
  if (config.wantsJson) print(resultsJson(config.version, results))
  await platform.close()
  return worst(results) === 'red' ? 1 : 0
}

/** Width without a terminal, columns. */
const usualWidth = 100

/** Prints results in order. Each result is printed as soon as it and all earlier ones are ready. */
async function printed(
  running: readonly { readonly title: string; readonly result: Promise<Result> }[],
  width: number,
): Promise<Result[]> {
  const results: Result[] = []
  for (const { title, result: awaited } of running) {
    showProgress(`Checking: ${title} …`)
    const result = await awaited
    showProgress('')
    results.push(result)
    if (result.light === 'skipped') continue
    for (const line of resultLines(result, width)) print(line)
  }
  for (const line of summary(results, width)) print(line)
  return results
}

/** Shows a status line in place of the previous one. */
function showProgress(text: string): void {
  const isWatched = process.stdout.isTTY && process.stderr.isTTY
  if (isWatched) process.stderr.write(`\r\u001b[K${text}`)
}

const print = (line: string) => process.stdout.write(`${line}\n`)

/** Result of a check. An exception or a timeout is red. */
async function resultOf({ name, title, run }: Check): Promise<Result> {
  const started = performance.now()
  const finding = await Promise.race([attempted(run), late()])
  return { name, title, ...finding, ms: performance.now() - started }
}

const attempted = async (run: Check['run']): Promise<Finding> => {
  try {
    return await run()
  } catch (error) {
    return red(messageOf(error), 'Correct what the message names, and run this again.')
  }
}

async function late(): Promise<Finding> {
  await sleep(longestCheckMs, undefined, { ref: false })
  return red(`No result within ${longestCheckMs / 1000} s.`, 'Run this again.')
}

interface DoctorConfig extends UsableConfig {
  /** Warnings about the settings. */
  readonly warnings: readonly string[]
  readonly env: Environment
  readonly settings: readonly ShownSetting[]
  /** Values that are removed from everything printed. */
  readonly secrets: readonly string[]
  readonly serverName: string
  readonly wantsJson: boolean
  readonly version: string
}

/** All checks of the platform, over one connection. */
async function platformChecks(config: DoctorConfig) {
  const { platform, scope, settings, env, version } = config
  if (!platform) return onlyPlatformCheck(() => notConfigured)
  if (platform.kind === 'sandbox') return onlyPlatformCheck(() => sandboxFinding(platform))
  const session = await openPlatformSession(platform, version)
  const keyOrigin = settings.find(({ name }) => name === 'api-key')?.from ?? ''
  return {
    checks: [
      platformCheck(session),
      ...networkChecks(session, env),
      ...firstReplyChecks(session, { account: scope?.account, keyOrigin }),
      contractCheck(session),
    ],
    close: session.close,
  }
}

/**
 * Platform checks without a platform to connect to: `platform` runs; the others are skipped and
 * refer to it. All are listed, because programs that read the JSON expect every check.
 */
const onlyPlatformCheck = (run: Check['run']) => ({
  checks: Object.entries(platformCheckTitles).map(
    ([name, title]): Check => ({
      name,
      title,
      run: name === 'platform' ? run : () => seeOther('platform'),
    }),
  ),
  close: async () => undefined,
})
