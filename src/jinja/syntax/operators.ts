import type { TokenType } from './token.ts'
import type { BinaryOperator, CompareOperator } from './tree.ts'

/** How tightly operators bind, loosest first. Those of one level make one flat node. */
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

/** The levels of the operators that are no words. */
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

/** The names that are literals; Jinja2 takes either case of the first letter. */
export const constants: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
])
