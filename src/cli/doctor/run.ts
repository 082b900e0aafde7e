import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import type { Inspection } from '../../service/inspection.ts'
import { callsCheck } from './calls-check.ts'
import type { Check, Finding, Light } from './check.ts'
import { clientsCheck } from './clients-check.ts'
import { configurationCheck } from './configuration-check.ts'
import type { DoctorConfig } from './doctor-config.ts'
import { nodeCheck } from './node-check.ts'
import { platformChecks } from './platform-checks.ts'
import {
  type Layout,
  type Result,
  resultLines,
  resultsJson,
  type Style,
  summary,
  worst,
} from './report.ts'
import { secretFree } from './secret-free.ts'
import { stateCheck } from './state-check.ts'

/** Longest that one check takes, ms: more than its requests may take. */
const longestCheckMs = 30_000

/** Checks everything at the same time, prints what comes of it, and gives the exit code. */
export async function runDoctor(
  config: DoctorConfig,
  inspection: Inspection,
  layout: Layout,
): Promise<number> {
  const platform = await platformChecks(config, inspection)
  const isSandbox = config.platform?.kind !== 'network'
  const checks = [
    configurationCheck(config.settings, config.faults),
    nodeCheck(config.version),
    ...platform.checks,
    stateCheck(config, isSandbox, inspection),
    callsCheck(config.calling, isSandbox, inspection),
    clientsCheck(config.env, config.serverName),
  ]
  const free = secretFree(config, inspection)
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
