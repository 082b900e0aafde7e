import { trimEnd, trimStart } from '../syntax/text.ts'
import { toArray } from './iterate.ts'
import {
  asInteger,
  asText,
  type BoundArguments,
  type Method,
  type Methods,
  method,
} from './methods.ts'
import type { ReadCost, Runtime } from './runtime.ts'
import {
  expandTabs,
  findText,
  isTitle,
  joinTexts,
  padText,
  replaceText,
  splitText,
  stripText,
  titleCase,
} from './string-operations.ts'
import { countText, findFirst, findLast, sliceText, splitLines, textLength } from './text.ts'
import { escapeText, sameKind } from './to-text.ts'
import { List, Markup, Tuple, textOf, typeName, type Value } from './values.ts'

type Text = string | Markup
type Transform = (text: string, runtime: Runtime, args: BoundArguments) => string

/**
 * A method whose result is a string of the same kind. On markup, string arguments are escaped
 * first, as `markupsafe` does.
 */
function transform(parameters: string, run: Transform, cost?: ReadCost): Method<Text> {
  const change: Method<Text>['run'] = (runtime, self, args) => {
    const safe = self instanceof Markup ? args.map(escapeArgument) : args
    const text = run(textOf(self) ?? '', runtime, safe)
    runtime.allowLength(text.length)
    return sameKind(self, text)
  }
  return method(parameters, change, cost)
}

function escapeArgument(value: Value | undefined): Value | undefined {
  return typeof value === 'string' ? new Markup(escapeText(value)) : value
}

/** A method that returns a fact about a string. */
function query(
  parameters: string,
  run: (text: string, runtime: Runtime, args: BoundArguments) => Value,
  cost?: ReadCost,
): Method<Text> {
  return method(parameters, (runtime, self, args) => run(textOf(self) ?? '', runtime, args), cost)
}

function matches(pattern: RegExp): Method<Text> {
  return query('', (text) => pattern.test(text))
}

function affix(test: 'startsWith' | 'endsWith'): Method<Text> {
  return query('affix start? end?', (text, runtime, [affix = null, start, end]) => {
    const part = window(text, runtime, start, end)
    if (part === null) return false
    const all = affix instanceof Tuple ? affix.items : [affix]
    return all.some((one) => part[test](asText(runtime, one, `${test.toLowerCase()} first arg`)))
  })
}

/** `text[start:end]` as methods take it; null if the start is beyond the end of the text. */
function window(
  text: string,
  runtime: Runtime,
  start: Value | undefined,
  end: Value | undefined,
): string | null {
  const length = textLength(text)
  const clamp = (value: Value | undefined, fallback: number): number => {
    if (value === undefined || value === null) return fallback
    const index = asInteger(runtime, value, fallback)
    return Math.min(Math.max(index < 0 ? index + length : index, 0), Math.max(length, index))
  }
  const from = clamp(start, 0)
  return from > length ? null : sliceText(text, from, Math.min(clamp(end, length), length))
}

function padding(side: 'left' | 'right' | 'center'): Method<Text> {
  return transform('width fill?', (text, runtime, [width, fill]) =>
    padText(
      runtime,
      text,
      asInteger(runtime, width, 0),
      fill === undefined ? ' ' : asText(runtime, fill),
      side,
    ),
  )
}

function stripping(left: boolean, right: boolean): Method<Text> {
  return transform('chars?', (text, runtime, [chars = null]) => {
    if (chars !== null) return stripText(text, asText(runtime, chars), left, right)
    const start = left ? trimStart(text) : text
    return right ? trimEnd(start) : start
  })
}

function splitting(fromRight: boolean): Method<Text> {
  return method('sep? maxsplit?', (runtime, self, [separator = null, maximum]) => {
    const text = textOf(self) ?? ''
    const sep = separator === null ? null : asText(runtime, separator)
    const parts = splitText(runtime, text, sep, asInteger(runtime, maximum, -1), fromRight)
    return new List(parts.map((part) => sameKind(self, part)))
  })
}

function partition(fromRight: boolean): Method<Text> {
  return method('sep', (runtime, self, [separator]) => {
    const text = textOf(self) ?? ''
    const sep = asText(runtime, separator)
    if (sep === '') runtime.fail('ValueError: empty separator')
    const at = fromRight ? findLast(text, sep) : findFirst(text, sep)
    const found = [text.slice(0, at), sep, text.slice(at + sep.length)]
    const parts = at >= 0 ? found : fromRight ? ['', '', text] : [text, '', '']
    return new Tuple(parts.map((part) => sameKind(self, part)))
  })
}

function finding(fromRight: boolean, required: boolean): Method<Text> {
  return query('sub start? end?', (text, runtime, [sub, start = null, end = null]) => {
    const bounds = [start, end].map((bound) =>
      bound === null ? null : asInteger(runtime, bound, 0),
    )
    const at = findText(text, asText(runtime, sub), bounds[0] ?? null, bounds[1] ?? null, fromRight)
    if (at < 0 && required) runtime.fail('ValueError: substring not found')
    return BigInt(at)
  })
}

/** Python's methods of `str`, but for `format`, `encode` and the like. */
export const stringMethods: Methods<Text> = new Map<string, Method<Text>>([
  ['upper', transform('', (text) => text.toUpperCase(), 'scan')],
  ['lower', transform('', (text) => text.toLowerCase(), 'scan')],
  ['casefold', transform('', (text) => text.toLowerCase().replaceAll('ß', 'ss'))],
  ['title', transform('', titleCase)],
  ['capitalize', transform('', capitalize)],
  ['swapcase', transform('', swapCase)],
  ['strip', stripping(true, true)],
  ['lstrip', stripping(true, false)],
  ['rstrip', stripping(false, true)],
  ['center', padding('center')],
  ['ljust', padding('left')],
  ['rjust', padding('right')],
  ['zfill', transform('width', (text, runtime, [width]) => zeroFill(runtime, text, width))],
  [
    'expandtabs',
    transform('tabsize?', (text, runtime, [size]) =>
      expandTabs(runtime, text, asInteger(runtime, size, 8)),
    ),
  ],
  [
    'replace',
    transform('old new count?', (text, runtime, [old, replacement, count]) =>
      replaceText(
        runtime,
        text,
        asText(runtime, old),
        asText(runtime, replacement),
        asInteger(runtime, count, -1),
      ),
    ),
  ],
  [
    'removeprefix',
    transform('prefix', (text, runtime, [prefix]) => {
      const start = asText(runtime, prefix)
      return text.startsWith(start) ? text.slice(start.length) : text
    }),
  ],
  [
    'removesuffix',
    transform('suffix', (text, runtime, [suffix]) => {
      const end = asText(runtime, suffix)
      return end !== '' && text.endsWith(end) ? text.slice(0, -end.length) : text
    }),
  ],
  ['split', splitting(false)],
  ['rsplit', splitting(true)],
  [
    'splitlines',
    method(
      'keepends?',
      (_, self, [keep]) =>
        new List(splitLines(textOf(self) ?? '', keep === true).map((line) => sameKind(self, line))),
    ),
  ],
  ['partition', partition(false)],
  ['rpartition', partition(true)],
  [
    'join',
    method('iterable', (runtime, self, [iterable = null]) => joinAll(runtime, self, iterable)),
  ],
  ['startswith', affix('startsWith')],
  ['endswith', affix('endsWith')],
  ['find', finding(false, false)],
  ['rfind', finding(true, false)],
  ['index', finding(false, true)],
  ['rindex', finding(true, true)],
  [
    'count',
    query('sub start? end?', (text, runtime, [sub, start, end]) => {
      const part = window(text, runtime, start, end)
      return BigInt(part === null ? 0 : countText(part, asText(runtime, sub)))
    }),
  ],
  ['isalpha', matches(/^\p{L}+$/u)],
  ['isdigit', matches(/^[\p{Nd}¹²³⁰-⁹₀-₉]+$/u)],
  ['isdecimal', matches(/^\p{Nd}+$/u)],
  ['isnumeric', matches(/^\p{N}+$/u)],
  ['isalnum', matches(/^[\p{L}\p{N}]+$/u)],
  ['isspace', query('', (text) => text !== '' && trimStart(text) === '')],
  ['isascii', matches(/^[\0-\x7f]*$/)],
  ['isidentifier', matches(/^[_\p{XID_Start}]\p{XID_Continue}*$/u)],
  ['isprintable', query('', (text) => !/[\p{C}]|(?! )\p{Z}/u.test(text))],
  ['islower', query('', (text) => isLower(text))],
  ['isupper', query('', (text) => isUpper(text))],
  ['istitle', query('', (text) => isTitle(text))],
])

/** `str.islower()`: some cased character, and none in upper or title case. */
export function isLower(text: string): boolean {
  return /\p{Ll}/u.test(text) && !/[\p{Lu}\p{Lt}]/u.test(text)
}

export function isUpper(text: string): boolean {
  return /\p{Lu}/u.test(text) && !/[\p{Ll}\p{Lt}]/u.test(text)
}

export function capitalize(text: string): string {
  const first = String.fromCodePoint(text.codePointAt(0) ?? 0)
  return text === '' ? '' : titleCase(first) + text.slice(first.length).toLowerCase()
}

function swapCase(text: string): string {
  return text.replace(/\p{L}/gu, (char) =>
    char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase(),
  )
}

function zeroFill(runtime: Runtime, text: string, width: Value | undefined): string {
  const sign = text.startsWith('-') || text.startsWith('+') ? text.slice(0, 1) : ''
  const gap = asInteger(runtime, width, 0) - textLength(text)
  runtime.allowLength(Math.max(gap, 0) + text.length)
  return gap <= 0 ? text : sign + '0'.repeat(gap) + text.slice(sign.length)
}

function joinAll(runtime: Runtime, self: Text, iterable: Value): Text {
  const items = toArray(runtime, iterable)
  const texts = items.map((item, index) => {
    if (self instanceof Markup && typeof item === 'string') return escapeText(item)
    const text = textOf(item)
    if (text !== null) return text
    const type = typeName(item)
    return runtime.fail(`TypeError: sequence item ${index}: expected str instance, ${type} found`)
  })
  return sameKind(self, joinTexts(runtime, textOf(self) ?? '', texts))
}
