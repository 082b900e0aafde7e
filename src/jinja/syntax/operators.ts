import type { TokenType } from './token.ts'
import type { BinaryOperator, CompareOperator } from './tree.ts'

/** Binary operators by precedence, loosest first; `~` lies between the first two levels. */
export const binaryLevels: readonly Partial<Record<TokenType, BinaryOperator>>[] = [
  { add: 'add', sub: 'sub' },
  { mul: 'mul', div: 'div', floordiv: 'floordiv', mod: 'mod' },
  { pow: 'pow' },
]

export const compareOperators: Partial<Record<TokenType, CompareOperator>> = {
  eq: 'eq',
  ne: 'ne',
  lt: 'lt',
  lteq: 'lteq',
  gt: 'gt',
  gteq: 'gteq',
}

/** The names that are literals; Jinja2 takes either case of the first letter. */
export const constants: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
])
