import { asText } from '../python/arguments.ts'
import { itemsOf } from '../python/container-methods.ts'
import { toArray, tryIterate } from '../python/iterate.ts'
import { escapeText, escapeValue } from '../python/markup.ts'
import type { BoundArguments } from '../python/method.ts'
import { toText } from '../python/repr.ts'
import type { Runtime } from '../python/runtime.ts'
import { joinTexts } from '../python/string-operations.ts'
import { splitWords } from '../python/text.ts'
import { Dict, isTrue, Markup, textOf, typeName, Undefined, type Value } from '../python/values.ts'
import { quote } from '../syntax/text.ts'
import { type FilterEntry, filter } from './define.ts'
import { urlize } from './urlize.ts'

/** Attributes for an HTML tag; those that are none or undefined are left out. */
function xmlAttributes(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [leadingSpace = true] = args
  if (value instanceof Undefined) return value.fail(runtime)
  if (!(value instanceof Dict)) return runtime.fail("AttributeError: no attribute 'items'")
  const parts: string[] = []
  for (const [key, item] of value.entries.values()) {
    if (item === null || item instanceof Undefined) continue
    const name = asText(runtime, key)
    runtime.read(name, 'walk')
    if (/[\s/>=]/.test(name)) {
      runtime.fail(`ValueError: Invalid character in attribute name: ${quote(name)}`)
    }
    parts.push(`${escapeText(name)}="${escapeValue(runtime, item).text}"`)
  }
  const text = joinTexts(runtime, ' ', parts)
  const spaced = isTrue(leadingSpace) && text !== '' ? ` ${text}` : text
  return runtime.autoescape ? new Markup(spaced) : spaced
}

function stripTags(runtime: Runtime, value: Value): Value {
  const text = toText(runtime, value)
  const bare = removeBetween(removeBetween(text, '<!--', '-->'), '<', '>')
  return unescapeHtml(splitWords(bare).join(' '))
}

/** Removes what stands between two marks, and the marks. */
function removeBetween(text: string, start: string, end: string): string {
  const kept: string[] = []
  let at = 0
  for (;;) {
    const from = text.indexOf(start, at)
    const to = from < 0 ? -1 : text.indexOf(end, from + start.length)
    if (to < 0) return kept.join('') + text.slice(at)
    kept.push(text.slice(at, from))
    at = to + end.length
  }
}

/** The named entities that occur in practice; HTML has two thousand more. */
const named: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\xa0'],
  ['copy', '©'],
  ['reg', '®'],
  ['raquo', '»'],
  ['laquo', '«'],
  ['hellip', '…'],
  ['mdash', '—'],
  ['ndash', '–'],
  ['euro', '€'],
])

function unescapeHtml(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{1,8}));/g,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return named.get(name) ?? whole
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
    },
  )
}

function quoteUrl(runtime: Runtime, value: Value, inQuery: boolean): string {
  const text = toText(runtime, value)
  runtime.read(text, 'walk')
  if (!text.isWellFormed()) runtime.fail('UnicodeEncodeError: surrogates not allowed')
  const quoted = encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return inQuery ? quoted.replaceAll('%20', '+') : quoted.replaceAll('%2F', '/')
}

/** A string for a URL's path, or pairs for its query. */
function urlEncode(runtime: Runtime, value: Value): Value {
  if (textOf(value) !== null || tryIterate(runtime, value) === null) {
    return quoteUrl(runtime, value, false)
  }
  const pairs = toArray(runtime, value instanceof Dict ? itemsOf(value) : value)
  const parts = pairs.map((pair) => {
    const [key, item, ...more] = toArray(runtime, pair)
    if (key === undefined || item === undefined || more.length > 0) {
      runtime.fail(`ValueError: expected pairs, got ${typeName(pair)}`)
    }
    return `${quoteUrl(runtime, key, true)}=${quoteUrl(runtime, item, true)}`
  })
  return joinTexts(runtime, '&', parts)
}

function urlizeText(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const text = escapeValue(runtime, value).text
  const linked = urlize(runtime, text, args)
  return runtime.autoescape ? new Markup(linked) : linked
}

export const htmlFilters: readonly FilterEntry[] = [
  filter('escape', '', escapeValue, 'free'),
  filter('e', '', escapeValue, 'free'),
  filter('forceescape', '', (runtime, value) => new Markup(escapeText(toText(runtime, value)))),
  filter('safe', '', (runtime, value) => new Markup(toText(runtime, value)), 'free'),
  filter('striptags', '', stripTags),
  filter('xmlattr', 'autospace?', xmlAttributes),
  filter('urlencode', '', urlEncode, 'free'),
  filter('urlize', 'trim_url_limit? nofollow? target? rel? extra_schemes?', urlizeText),
]
