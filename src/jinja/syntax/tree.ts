import type { TokenType } from './token.ts'

/** Operator precedences, loosest first. Operators of one precedence form one flat node. */
export const levels = {
  or: 1,
  and: 2,
  not: 3,
  compare: 4,
  sum: 5,
  concat: 6,
  product: 7,
  power: 8,
} as const

/** Precedences of the operators that are symbols. */
export const operatorLevels: Partial<Record<TokenType, number>> = {
  eq: levels.compare,
  ne: levels.compare,
  lt: levels.compare,
  lteq: levels.compare,
  gt: levels.compare,
  gteq: levels.compare,
  add: levels.sum,
  sub: levels.sum,
  tilde: levels.concat,
  mul: levels.product,
  div: levels.product,
  floordiv: levels.product,
  mod: levels.product,
  pow: levels.power,
}

export const binaryOperators: Partial<Record<TokenType, BinaryOperator>> = {
  add: 'add',
  sub: 'sub',
  mul: 'mul',
  div: 'div',
  floordiv: 'floordiv',
  mod: 'mod',
  pow: 'pow',
}

export const compareOperators: Partial<Record<TokenType, CompareOperator>> = {
  eq: 'eq',
  ne: 'ne',
  lt: 'lt',
  lteq: 'lteq',
  gt: 'gt',
  gteq: 'gteq',
}

/** Names of constants; Jinja2 accepts both cases of the first letter. */
export const constants: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
])

/**
 * The syntax tree of a template. Chains that Jinja2 nests (`a.b.c`, `a|f|g`, `a + b + c`) are flat
 * lists here, so that neither the parser nor a walker recurses along a long one.
 */

type Literal = null | boolean | string | bigint | number

export type Expr =
  | { readonly kind: 'const'; readonly value: Literal; readonly line: number }
  | Name
  | { readonly kind: 'tuple' | 'list'; readonly items: readonly Expr[]; readonly line: number }
  | { readonly kind: 'dict'; readonly entries: readonly Entry[]; readonly line: number }
  | Chain
  | Binary
  | Compare
  | { readonly kind: 'concat'; readonly operands: readonly Expr[]; readonly line: number }
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Expr[]; readonly line: number }
  | { readonly kind: 'not' | 'neg' | 'pos'; readonly operand: Expr; readonly line: number }
  | Conditional

export type Name = { readonly kind: 'name'; readonly name: string; readonly line: number }

export type Entry = { readonly key: Expr; readonly value: Expr }

/**
 * A value and the steps applied to it, in order: attributes, subscripts, calls, filters and tests.
 */
export type Chain = {
  readonly kind: 'chain'
  readonly head: Expr
  readonly steps: readonly Step[]
  readonly line: number
}

export type Step =
  | { readonly kind: 'attribute'; readonly name: string; readonly line: number }
  | { readonly kind: 'item'; readonly index: Expr; readonly line: number }
  | SliceStep
  | CallStep
  | FilterStep
  | TestStep

/** `bounds` are start, stop and step. */
export type SliceStep = {
  readonly kind: 'slice'
  readonly bounds: readonly (Expr | null)[]
  readonly line: number
}

export type CallStep = { readonly kind: 'call'; readonly args: Arguments; readonly line: number }

export type FilterStep = {
  readonly kind: 'filter'
  readonly name: string
  readonly args: Arguments
  readonly line: number
}

export type TestStep = {
  readonly kind: 'test'
  readonly name: string
  readonly args: Arguments
  readonly negated: boolean
  readonly line: number
}

export type Keyword = { readonly name: string; readonly value: Expr }

export type Arguments = {
  readonly positional: readonly Expr[]
  readonly keywords: readonly Keyword[]
  readonly spread: Expr | null
  readonly spreadKeywords: Expr | null
}

export type BinaryOperator = 'add' | 'sub' | 'mul' | 'div' | 'floordiv' | 'mod' | 'pow'

/** An operator and its right operand. */
export type Operation<Operator> = { readonly op: Operator; readonly operand: Expr }

/** Operators of one precedence, applied from left to right; in Jinja2 this includes `**`. */
type Binary = {
  readonly kind: 'binary'
  readonly first: Expr
  readonly rest: readonly Operation<BinaryOperator>[]
  readonly line: number
}

export type CompareOperator = 'eq' | 'ne' | 'lt' | 'lteq' | 'gt' | 'gteq' | 'in' | 'notin'

type Compare = {
  readonly kind: 'compare'
  readonly first: Expr
  readonly rest: readonly Operation<CompareOperator>[]
  readonly line: number
}

export type Conditional = {
  readonly kind: 'conditional'
  readonly test: Expr
  readonly then: Expr
  readonly otherwise: Expr | null
  readonly line: number
}

/** Target of an assignment. `attribute` is `ns.x`, which only `set` accepts. */
export type Target =
  | Name
  | { readonly kind: 'tuple'; readonly items: readonly Target[]; readonly line: number }
  | {
      readonly kind: 'attribute'
      readonly name: string
      readonly attribute: string
      readonly line: number
    }

export type Data = { readonly kind: 'data'; readonly text: string; readonly line: number }

export type Statement =
  | { readonly kind: 'output'; readonly nodes: readonly (Data | Expr)[]; readonly line: number }
  | For
  | If
  | {
      readonly kind: 'set'
      readonly target: Target
      readonly value: Expr
      readonly line: number
    }
  | SetBlock
  | Macro
  | CallBlock
  | FilterBlock
  | With
  | {
      readonly kind: 'autoescape'
      readonly value: Expr
      readonly body: Body
      readonly line: number
    }
  | Block
  | { readonly kind: 'extends'; readonly template: Expr; readonly line: number }
  | { readonly kind: 'include'; readonly template: Expr; readonly line: number }
  | Import

export type Body = readonly Statement[]

export type For = {
  readonly kind: 'for'
  readonly target: Target
  readonly iterable: Expr
  readonly test: Expr | null
  readonly recursive: boolean
  readonly body: Body
  readonly otherwise: Body
  readonly line: number
}

export type Branch = { readonly test: Expr; readonly body: Body; readonly line: number }

export type If = {
  readonly kind: 'if'
  readonly first: Branch
  readonly elifs: readonly Branch[]
  readonly otherwise: Body
  readonly line: number
}

/** `filters` is empty unless `{% set x | f %}` names some. */
type SetBlock = {
  readonly kind: 'set_block'
  readonly target: Target
  readonly filters: readonly FilterStep[]
  readonly body: Body
  readonly line: number
}

export type Parameter = {
  readonly name: string
  readonly fallback: Expr | null
  readonly line: number
}

export type Macro = {
  readonly kind: 'macro'
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly body: Body
  readonly line: number
}

export type CallBlock = {
  readonly kind: 'call_block'
  readonly callee: Expr
  readonly call: CallStep
  readonly parameters: readonly Parameter[]
  readonly body: Body
  readonly line: number
}

type FilterBlock = {
  readonly kind: 'filter_block'
  readonly filters: readonly FilterStep[]
  readonly body: Body
  readonly line: number
}

export type Binding = { readonly target: Target; readonly value: Expr }

type With = {
  readonly kind: 'with'
  readonly bindings: readonly Binding[]
  readonly body: Body
  readonly line: number
}

export type Block = {
  readonly kind: 'block'
  readonly name: string
  readonly scoped: boolean
  readonly required: boolean
  readonly body: Body
  readonly line: number
}

/**
 * `import … as x` and `from … import a, b as c`; `names`: names that it defines in the template.
 */
type Import = {
  readonly kind: 'import'
  readonly template: Expr
  readonly names: readonly string[]
  readonly line: number
}

export type Template = {
  readonly kind: 'template'
  readonly body: Body
  /** All names in the template: of variables, attributes, filters, tags and so on. */
  readonly names: ReadonlyMap<string, string>
}
