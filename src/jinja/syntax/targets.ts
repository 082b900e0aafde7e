import type { ExpressionParser } from './parser-types.ts'
import type { Expr, Name, Step, Target } from './tree.ts'

/** Parses what is assigned to. */
export const targetParser = { parseName, parseList, parseListOrAttribute }

const reserved: ReadonlySet<string> = new Set(['true', 'True', 'false', 'False', 'none', 'None'])

/** One plain name. */
function parseName({ stream }: ExpressionParser): Name {
  const { value: name, line } = stream.takeName()
  if (reserved.has(name)) stream.fail("can't assign to 'name'", line)
  return { kind: 'name', name, line }
}

/** A name or a tuple of them, possibly nested. */
function parseList(parser: ExpressionParser): Target {
  const expr = parser.parseTuple({ simplified: true })
  return toTarget(expr) ?? parser.stream.fail(`can't assign to '${nodeName(expr)}'`, expr.line)
}

/** As `parseList`, or an attribute of a namespace. */
function parseListOrAttribute(parser: ExpressionParser): Target {
  const { stream } = parser
  if (stream.look().type !== 'dot') return parseList(parser)
  const { value: name, line } = stream.takeName()
  stream.next()
  return { kind: 'attribute', name, attribute: stream.takeName().value, line }
}

function toTarget(expr: Expr): Target | null {
  if (expr.kind === 'name') return expr
  if (expr.kind !== 'tuple') return null
  const items = expr.items.map(toTarget)
  const valid = items.filter((item) => item !== null)
  return valid.length === items.length ? { kind: 'tuple', items: valid, line: expr.line } : null
}

const stepNames: Readonly<Record<Step['kind'], string>> = {
  attribute: 'getattr',
  item: 'getitem',
  slice: 'getitem',
  call: 'call',
  filter: 'filter',
  test: 'test',
}

/** What Jinja2 calls a node, which is the class of the outermost one. */
function nodeName(expr: Expr): string {
  switch (expr.kind) {
    case 'conditional':
      return 'condexpr'
    case 'binary':
      return expr.rest.at(-1)?.op ?? expr.kind
    case 'chain': {
      const last = expr.steps.at(-1)
      if (last?.kind === 'test' && last.negated) return 'not'
      return last === undefined ? expr.kind : stepNames[last.kind]
    }
    default:
      return expr.kind
  }
}
