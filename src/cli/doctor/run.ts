import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import { openPlatform } from '../../server/platform.ts'
import type { Environment } from '../config/given-settings.ts'
import type { UsableConfig } from '../config/service.ts'
import {
  type Check,
  type Finding,
  green,
  type Light,
  notConfigured,
  platformCheckTitles,
  seeOther,
} from './check.ts'
import { contractCheck } from './contract-check.ts'
import { keyChecks } from './key-checks.ts'
import {
  callsCheck,
  clientsCheck,
  configurationCheck,
  nodeCheck,
  type ShownSetting,
  sandboxFault,
  stateCheck,
} from './local-checks.ts'
import { networkChecks, platformCheck } from './network-checks.ts'
import { openPlatformSession } from './platform-session.ts'
import {
  type Layout,
  type Result,
  resultLines,
  resultsJson,
  type Style,
  secretFree,
  summary,
  worst,
} from './report.ts'

/** Longest that one check takes, ms: more than its requests may take. */
const longestCheckMs = 30_000

/** Checks everything at the same time, prints what comes of it, and gives the exit code. */
export async function runDoctor(config: DoctorConfig, layout: Layout): Promise<number> {
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
    : await printed(running, { ...layout, colour })
  if (config.wantsJson) print(resultsJson(config.version, results))
  await platform.close()
  return worst(results) === 'red' ? 1 : 0
}

/** A check under way. */
interface StartedCheck {
  readonly title: string
  readonly result: Promise<Result>
}

/** Prints each result as soon as it and those before it are there. */
async function printed(running: readonly StartedCheck[], style: Style): Promise<Result[]> {
  const results: Result[] = []
  for (const { title, result: awaited } of running) {
    showProgress(`Checking: ${title} …`)
    const result = await awaited
    showProgress('')
    results.push(result)
    if (result.light === 'skipped') continue
    for (const line of resultLines(result, style)) print(line)
  }
  for (const line of summary(results, style)) print(line)
  return results
}

/** One line that the next one replaces, for a person who waits. */
function showProgress(text: string): void {
  const isWatched = process.stdout.isTTY && process.stderr.isTTY
  if (isWatched) process.stderr.write(`\r\u001b[K${text}`)
}

const print = (line: string) => process.stdout.write(`${line}\n`)

const colours = { green: 'green', yellow: 'yellow', red: 'red', skipped: 'dim' } as const

/** Only on a terminal, and not with NO_COLOR. */
const colour = (light: Light, word: string) =>
  styleText(colours[light], word, { stream: process.stdout })

/** What a check comes to; one that fails or takes too long is an error by itself. */
async function resultOf({ name, title, run }: Check): Promise<Result> {
  const started = performance.now()
  const finding = await Promise.race([attempted(run), late()])
  return { name, title, ...finding, ms: performance.now() - started }
}

const attempted = async (run: Check['run']): Promise<Finding> => {
  try {
    return await run()
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return { light: 'red', text, todo: 'Correct what the message names, and run this again.' }
  }
}

async function late(): Promise<Finding> {
  await sleep(longestCheckMs, undefined, { ref: false })
  return {
    light: 'red',
    text: `No result within ${longestCheckMs / 1000} s.`,
    todo: 'Run this again.',
  }
}

/** What is checked, and how the result is printed. */
interface DoctorConfig extends UsableConfig {
  /** What is worth knowing of the settings. */
  readonly warnings: readonly string[]
  readonly env: Environment
  readonly settings: readonly ShownSetting[]
  /** Texts that are never printed. */
  readonly secrets: readonly string[]
  /** The name of the server in the files of clients. */
  readonly serverName: string
  readonly wantsJson: boolean
  readonly version: string
}

interface PlatformChecks {
  readonly checks: readonly Check[]
  close(): Promise<void>
}

/** Everything that is checked of the platform, with one connection to it. */
async function platformChecks(config: DoctorConfig): Promise<PlatformChecks> {
  const { platform, scope, settings, env, version } = config
  if (!platform) return only(() => notConfigured)
  if (platform.kind === 'sandbox') return only(() => sandbox(platform))
  const session = await openPlatformSession(platform, version)
  const keyOrigin = settings.find(({ name }) => name === 'api-key')?.from ?? ''
  return {
    checks: [
      platformCheck(session),
      ...networkChecks(session, env),
      ...keyChecks(session, { account: scope?.account, keyOrigin }),
      contractCheck(session),
    ],
    close: session.close,
  }
}

/** Without a platform on the network; a program finds its checks all the same. */
const only = (run: Check['run']): PlatformChecks => ({
  checks: Object.entries(platformCheckTitles).map(([name, title]) => ({
    name,
    title,
    run: name === 'platform' ? run : () => seeOther('platform'),
  })),
  close: async () => undefined,
})

type Sandbox = Extract<NonNullable<DoctorConfig['platform']>, { kind: 'sandbox' }>

async function sandbox(config: Sandbox): Promise<Finding> {
  const fault = await sandboxFault(config.file, async () => {
    const opened = await openPlatform(config, () => undefined)
    await opened.prepare().finally(() => opened.close())
  })
  const text = `The built-in sandbox, because neither a key nor an address is set: no real account, nothing is dialled. Its data: ${config.file}.`
  return fault === undefined
    ? green(`${text} Set VOICE_AGENT_API_KEY and VOICE_AGENT_BASE_URL for your own account.`)
    : { light: 'red', text: `${text} ${fault.text}`, todo: fault.todo }
}
