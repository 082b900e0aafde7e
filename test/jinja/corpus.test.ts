import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { analyse } from '../../src/jinja/index.ts'

type Entry = {
  readonly id: string
  readonly cat: string
  readonly template?: string
  readonly gen?: { prefix: string; unit: string; n: number; suffix: string }
  readonly oracle: {
    readonly valid: boolean
    readonly error: { message: string; line: number | null } | null
    readonly undeclared_minus_globals?: readonly string[]
    readonly paths?: readonly (readonly [string, number])[]
  }
}

const corpus: { readonly templates: readonly Entry[] } = JSON.parse(
  readFileSync(new URL('corpus.json', import.meta.url), 'utf8'),
)

function sourceOf({ template, gen }: Entry): string {
  if (gen === undefined) return template ?? ''
  const units = Array.from({ length: gen.n }, (_, i) => gen.unit.replaceAll('{i}', String(i)))
  return gen.prefix + units.join('') + gen.suffix
}

function byPath(a: readonly [string, number], b: readonly [string, number]): number {
  return a[0] < b[0] ? -1 : 1
}

/** Shortens names or paths as the corpus does: to the first 20 if there are thousands. */
function listed<T>(found: readonly T[], wanted: readonly unknown[]): readonly T[] {
  return wanted.length === 20 ? found.slice(0, 20) : found
}

/**
 * Templates that both refuse as too deep. CPython fails without a line, compiling Jinja2's code.
 */
const tooDeepForBoth = [
  's-nest-if-500',
  's-nest-paren-1000',
  's-nest-for-25',
  's-chain-attr-500',
  's-filter-chain-200',
]

describe('the corpus', () => {
  const ordinary = corpus.templates.filter(({ id }) => !tooDeepForBoth.includes(id))

  test.each(ordinary)('$id: validity, message, line and variables agree', (entry) => {
    const { oracle } = entry
    const { valid, errors, variables } = analyse(sourceOf(entry))
    expect(valid).toBe(oracle.valid)
    if (oracle.error !== null) {
      expect(errors).toHaveLength(1)
      expect(errors[0]?.line).toBe(oracle.error.line)
      // Our message may append a suggestion to Jinja2's.
      expect(errors[0]?.message.slice(0, oracle.error.message.length)).toBe(oracle.error.message)
      return
    }
    const found = variables.map(({ path, line }) => [path, line] as const).sort(byPath)
    const roots = [...new Set(found.map(([path]) => path.split(/[.[]/, 1)[0]))].sort()
    expect(listed(found, oracle.paths ?? [])).toEqual(oracle.paths)
    const names = oracle.undeclared_minus_globals ?? []
    expect(listed(roots, names)).toEqual(names)
  })

  test.each(tooDeepForBoth)('%s: too deep here and for CPython', (id) => {
    const entry = corpus.templates.find((one) => one.id === id)
    expect(entry?.oracle.valid).toBe(false)
    expect(entry && analyse(sourceOf(entry)).errors[0]?.type).toBe('too_deep')
  })
})
