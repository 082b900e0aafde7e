import { render, TemplateError } from '../../src/jinja/index.ts'
import { hostileSources, hostileTemplate, templateCount } from '../harness/hostile-templates.ts'

/*
 * Renders hostile templates and prints, as JSON lines, what each took: CPU time as a multiple of
 * what a plain loop takes until its steps run out, so that a slow machine makes no difference.
 *   node [--max-old-space-size=…] test/jinja/hostile-run.ts FIRST STEP [SLOWER-THAN]
 */

const [first = 0, step = 1, slowest = 0] = process.argv.slice(2).map(Number)

const plainLoop =
  '{% for i in range(100000) %}{% for j in range(100000) %}{% set x = i + j %}{% endfor %}{% endfor %}'

function cpuMs(source: string): { readonly ms: number; readonly ended: string } {
  const before = process.cpuUsage()
  const ended = end(source)
  const { user, system } = process.cpuUsage(before)
  return { ms: (user + system) / 1000, ended }
}

/** How a rendering ended; anything but a result or an error of the template ends this process. */
function end(source: string): string {
  try {
    render(source)
    return 'rendered'
  } catch (error) {
    if (error instanceof TemplateError) return error.type
    throw error
  }
}

cpuMs(plainLoop)
let plain = cpuMs(plainLoop).ms

function report(name: string, source: string): void {
  const { ms, ended } = cpuMs(source)
  const times = ms / plain
  if (times >= slowest) console.log(JSON.stringify({ name, times, ms, ended }))
}

for (const [name, source] of Object.entries(hostileSources)) report(name, source())
for (let number = first; number < templateCount; number += step) {
  if (number % 50 === first % 50) plain = Math.max(plain, cpuMs(plainLoop).ms)
  const source = hostileTemplate(number)
  report(source.slice(source.indexOf('{% set s =')), source)
}
console.log(JSON.stringify({ plain, peakMb: process.resourceUsage().maxRSS / 1024 }))
