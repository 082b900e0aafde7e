/**
 * Measures the validation of a template of 1 MiB, by its content:
 *
 *     node test/jinja/speed.ts [--runs 3] [--only lists]
 *     taskset -c 0 node test/jinja/speed.ts
 *
 * Each is measured in a fresh process, where nothing is compiled yet, and from a bundle, as
 * published: Node.js would still be compiling TypeScript. Prints the medians of the first and of
 * the fifth validation.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { analyse, unknownVariables } from '../../src/jinja/index.ts'

const size = 1_048_576

/** Repeated content of each template; `#` is replaced by an increasing number. */
const families: Readonly<Record<string, string>> = {
  prose: 'Please tell the caller that we are open from nine to five. ',
  'prose with variables': 'Hello {{ contact.first_name }}, you are calling about {{ topic }}.\n',
  ifs: '{% if a %}x{% endif %}',
  'ifs with else': '{% if a %}{{ b }}{% elif c %}{{ d }}{% else %}{{ e }}{% endif %}',
  'ifs that set': '{% if a %}{% set b# = 1 %}{% endif %}',
  loops: '{% for a in b %}{{ loop.index }}{% endfor %}',
  macros: '{% macro m(a, b=1) %}{{ a }}{% endmacro %}',
  'macro names': '{% macro m#(a) %}{% endmacro %}',
  sets: '{% set a = 1 %}',
  'set names': '{% set a# = 1 %}',
  'set blocks': '{% set a %}x{% endset %}',
  withs: '{% with a = 1 %}{{ a }}{% endwith %}',
  blocks: '{% block b# %}x{% endblock %}',
  calls: '{% call f(a) %}x{% endcall %}',
  'filter blocks': '{% filter upper %}x{% endfilter %}',
  'scoped blocks': '{% for a in b %}{% block b# scoped %}{% endblock %}{% endfor %}',
  comments: '{##}',
  raw: '{% raw %}{% endraw %}',
  numbers: '{{1}}',
  floats: '{{1.5}}',
  strings: '{{""}}',
  escapes: '{{"\\n"}}',
  names: '{{a}}',
  'many names': '{{a#}}',
  'names beyond ASCII': '{{é}}',
  attributes: '{{a.b}}',
  subscripts: '{{a[1]}}',
  slices: '{{a[:]}}',
  lists: '{{[1,2,3]}}',
  'empty lists': '{{[]}}',
  tuples: '{{(1,2)}}',
  dicts: '{{ {1:2} }}',
  keywords: '{{f(a=1)}}',
  'method calls': '{{a.b(c)}}',
  filters: '{{a|upper}}',
  tests: '{{a is odd}}',
  'unknown filters': '{{a|uper}}',
  'unknown filter names': '{{a|uper#}}',
  'unknown filters in ifs': '{%if a%}{{a|uper}}{%endif%}',
  'unknown filter names in ifs': '{%if a%}{{a|uper#}}{%endif%}',
  'unknown filters in inline ifs': '{{a|x if b}}',
  'unknown filter names in inline ifs': '{{a|uper# if b}}',
  concatenations: '{{a~a}}',
  sums: '{{a+a}}',
  signs: '{{-a}}',
  comparisons: '{{a<a}}',
  'constant comparisons': '{{1<2}}',
  'constant conditions': '{{1 or x|nosuch}}',
  'costly constant conditions': '{{[1]*9999 or x|nosuch}}',
  'repeated blocks': '{% block a %}{% endblock %}',
  'repeated keywords': '{{f(a=1,a=1)}}',
  conditions: '{{a and b or not c}}',
  'inline ifs': '{{a if b else c}}',
  includes: '{% include "a" %}',
  imports: '{% import "a" as b# %}',
  extends: '{% extends "a" %}',
}

const single: Readonly<Record<string, (size: number) => string>> = {
  'one list': (size) => `{{[${'1,'.repeat(size / 2)}]}}`,
  'one list of names': (size) => `{{[${'a,'.repeat(size / 2)}]}}`,
  'one dict': (size) => `{{ {${'1:1,'.repeat(size / 4)}} }}`,
  'one concatenation': (size) => `{{a${'~a'.repeat(size / 2)}}}`,
  'one comparison': (size) => `{{a${'<a'.repeat(size / 2)}}}`,
  'one call': (size) => `{{f(${'a,'.repeat(size / 2)})}}`,
  'one call with keywords': (size) => `{{f(${numbered('a#=1,', size)})}}`,
  'one chain of elifs': (size) => `{%if a%}${'{%elif a%}'.repeat(size / 10)}{%endif%}`,
  'one string': (size) => `{{ "${'\\n'.repeat(size / 2)}" }}`,
  'one number': (size) => `{{ ${'9'.repeat(size)} }}`,
  'one name': (size) => `{{ ${'é'.repeat(size)} }}`,
  'one unknown filter': (size) => `{{ a|${'x'.repeat(size)} }}`,
  'strings in a row': (size) => `{{${'""'.repeat(size / 2)}}}`,
}

function numbered(unit: string, size: number): string {
  if (!unit.includes('#')) return unit.repeat(size / unit.length)
  let text = ''
  for (let i = 0; text.length < size - unit.length - 6; i++) text += unit.replace('#', String(i))
  return text
}

const templates = new Map([
  ...Object.entries(families).map(([name, unit]) => [name, () => numbered(unit, size)] as const),
  ...Object.entries(single).map(([name, make]) => [name, () => make(size)] as const),
])

function validate(source: string): number {
  const start = performance.now()
  const { variables } = analyse(source)
  unknownVariables(variables, ['contact', 'topic'])
  return performance.now() - start
}

async function bundleInto(folder: string): Promise<string> {
  const { buildSync } = await import('esbuild')
  const outfile = join(folder, 'speed.mjs')
  const entryPoints = [fileURLToPath(import.meta.url)]
  buildSync({
    entryPoints,
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['esbuild'],
  })
  return outfile
}

function measure(script: string, name: string, runs: number): { cold: number; warm: number } {
  const times = Array.from({ length: runs }, () => {
    const { stdout } = spawnSync(process.execPath, [script, '--one', name], { encoding: 'utf8' })
    return stdout.split(' ').map(Number)
  })
  const median = (index: number): number =>
    times.map((all) => all[index] ?? 0).sort((a, b) => a - b)[runs >> 1] ?? 0
  return { cold: median(0), warm: median(4) }
}

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    one: { type: 'string' },
  },
})

if (values.one !== undefined) {
  const source = templates.get(values.one)?.() ?? ''
  console.log(Array.from({ length: 5 }, () => validate(source)).join(' '))
} else {
  const folder = mkdtempSync(join(tmpdir(), 'jinja-speed-'))
  const script = await bundleInto(folder)
  for (const name of templates.keys()) {
    if (!name.includes(values.only)) continue
    const { cold, warm } = measure(script, name, Number(values.runs))
    console.log(
      `${name.padEnd(36)} ${cold.toFixed(0).padStart(5)} ms ${warm.toFixed(0).padStart(5)} ms`,
    )
  }
  rmSync(folder, { recursive: true })
}
