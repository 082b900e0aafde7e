import { AnalysisBudget, MAX_ANALYSIS_STEPS } from '../../src/jinja/limits.ts'
import { parse } from '../../src/jinja/syntax/parse.ts'
import type { Expr } from '../../src/jinja/syntax/tree.ts'
import { eachChild, eachName, type Visitor, visitParts } from '../../src/jinja/syntax/walk.ts'

type Known = {
  readonly reason: string
  readonly excuses: (difference: string, source: string) => boolean
}

/**
 * Known differences from real Jinja2, with the reason; each entry excuses only that difference.
 * Another one is described at `isSame` in src/jinja/render/tests.ts: to CPython, equal large
 * numbers and strings may be one object, as in `x is sameas x`.
 */
export const knownDifferences: readonly Known[] = [
  {
    reason: 'Jinja2 folds a slice of a constant that cannot be sliced, as in 7[1:], to undefined',
    excuses: (difference, source) =>
      /^runtime_error: TypeError: '(?:int|float|bool|dict|NoneType)' object is not subscriptable instead of "/.test(
        difference,
      ) && slicesConstant(source),
  },
  {
    reason: 'Python has complex numbers, as in (-3) ** 0.5',
    excuses: (difference, source) =>
      difference.startsWith('runtime_error: complex numbers are not supported instead of "') &&
      source.includes('**'),
  },
  {
    reason: 'Python prints an address in memory',
    excuses: (difference) => / instead of ".* at 0x[0-9a-f]+/i.test(difference),
  },
  {
    reason: 'MarkupSafe 2.1.2 returns a plain string from removeprefix and removesuffix',
    excuses: (difference, source) => {
      const [mine, theirs] = difference.split(' instead of ')
      const plain = mine?.replaceAll(/Markup\(('.*?'|\\".*?\\")\)/g, '$1')
      return /\bremove(?:pre|suf)fix\b/.test(source) && plain === `output ${theirs}`
    },
  },
]

/** True if a slice is taken of an expression without variables. */
function slicesConstant(source: string): boolean {
  let found = false
  const search = (expr: Expr): void => {
    if (expr.kind === 'chain') {
      const at = expr.steps.findIndex(({ kind }) => kind === 'slice')
      if (at >= 0 && isNameless({ ...expr, steps: expr.steps.slice(0, at + 1) })) found = true
    }
    eachChild(expr, search, null)
  }
  const visitor: Visitor = {
    read: search,
    write: () => undefined,
    enter: (body) => {
      for (const statement of body) visitParts(statement, visitor)
    },
  }
  visitor.enter(parse(source, new AnalysisBudget(MAX_ANALYSIS_STEPS)).body)
  return found
}

function isNameless(expr: Expr): boolean {
  let names = 0
  eachName(expr, { load: () => names++ })
  return names === 0
}
