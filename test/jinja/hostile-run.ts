import { analyse, render, TemplateError } from '../../src/jinja/index.ts'
import { templateLimits } from '../../src/sandbox/agent-call-settings.ts'
import { hostileSources, hostileTemplate, templateCount } from '../harness/hostile-templates.ts'

/*
 * Renders and checks hostile templates. Prints the cost of each as a JSON line: CPU time as a
 * multiple of a plain template's that runs to its step limit, so that the machine's speed does not
 * matter.
 *
 *   node [--max-old-space-size=…] test/jinja/hostile-run.ts FIRST STEP [SLOWER-THAN]
 */

const [first = 0, step = 1, slowest = 0] = process.argv.slice(2).map(Number)

const plainLoop =
  '{% for i in range(100000) %}{% for j in range(100000) %}{% set x = i + j %}{% endfor %}{% endfor %}'

const plainList = `{{ [${'a,'.repeat(65_000)}a] }}`

function cpuMs(
  work: (source: string) => string,
  source: string,
): { readonly ms: number; readonly ended: string } {
  const before = process.cpuUsage()
  const ended = work(source)
  const { user, system } = process.cpuUsage(before)
  return { ms: (user + system) / 1000, ended }
}

/** Outcome of a rendering. Errors other than those of a template end this process. */
function rendered(source: string): string {
  try {
    render(source)
    return 'rendered'
  } catch (error) {
    if (error instanceof TemplateError) return error.type
    throw error
  }
}

/** Outcome of a check with the sandbox's limits. */
const checked = (source: string): string =>
  analyse(source, templateLimits).errors[0]?.type ?? 'checked'

cpuMs(rendered, plainLoop)
let plain = cpuMs(rendered, plainLoop).ms

function report(name: string, took: ReturnType<typeof cpuMs>, plainMs: number): void {
  const times = took.ms / plainMs
  if (times >= slowest) console.log(JSON.stringify({ name, times, ...took }))
}

/**
 * Cost of a check: the minimum of several runs, because garbage collection or other load can double
 * its few milliseconds.
 */
function checkCost(source: string): ReturnType<typeof cpuMs> {
  const [first = cpuMs(checked, source), ...more] = Array.from({ length: 8 }, () =>
    cpuMs(checked, source),
  )
  return more.reduce((min, cost) => (cost.ms < min.ms ? cost : min), first)
}

const plainCheck = checkCost(plainList).ms
for (const [name, make] of Object.entries(hostileSources)) {
  const source = make()
  report(name, cpuMs(rendered, source), plain)
  report(`check of ${name}`, checkCost(source), plainCheck)
}
for (let number = first; number < templateCount; number += step) {
  if (number % 50 === first % 50) plain = Math.max(plain, cpuMs(rendered, plainLoop).ms)
  const source = hostileTemplate(number)
  report(source.slice(source.indexOf('{% set s =')), cpuMs(rendered, source), plain)
}
console.log(JSON.stringify({ plain, peakMb: process.resourceUsage().maxRSS / 1024 }))
