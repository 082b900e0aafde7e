import { itemsOf } from '../python/container-methods.ts'
import { toArray, tryIterate } from '../python/iterate.ts'
import { asInteger, asText, type BoundArguments } from '../python/methods.ts'
import type { Runtime } from '../python/runtime.ts'
import { joinTexts } from '../python/string-operations.ts'
import { countText, sliceText, splitWords, textLength } from '../python/text.ts'
import { escapeText, escapeValue, toText } from '../python/to-text.ts'
import { Dict, isTrue, Markup, textOf, typeName, Undefined, type Value } from '../python/values.ts'
import { quote } from '../syntax/text.ts'
import { type FilterEntry, filter } from './define.ts'

/** Attributes for an HTML tag, without those whose value is none or undefined. */
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

/** Removes two marks and the text between them. */
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

type Style = {
  readonly limit: number | null
  readonly attributes: string
  readonly schemes: readonly string[]
}

const domain = String.raw`(?:[\w%-]+\.)*(?:[a-z]{2,63}|xn--[\w%]{2,59})`
const listedDomain = String.raw`(?:[\w%-]{2,63}\.)+(?:com|net|int|edu|gov|org|info|mil)`
const address = String.raw`\d{1,3}(?:\.\d{1,3}){3}|\[(?:[\da-f]{0,4}:){2}(?:[\da-f]{0,4}:?){1,6}\]`
const urlPattern = new RegExp(
  String.raw`^(?:(?:https?://|www\.)${domain}|${listedDomain}|https?://(?:${address}))` +
    String.raw`(?::\d{1,5})?(?:[/?#]\S*)?$`,
  'i',
)
const emailPattern = /^[^\s@]\S*@\w[\w.-]*\.\w+$|^@\S*@\w[\w.-]*\.\w+$/

/** Turns the web and mail addresses in escaped text into links. */
function urlize(runtime: Runtime, text: string, args: BoundArguments): string {
  const [limit = null, noFollow = false, target = null, rel = null, schemes = null] = args
  const rels = new Set(rel === null ? [] : splitWords(asText(runtime, rel)))
  if (isTrue(noFollow)) rels.add('nofollow')
  rels.add('noopener')
  const relText = ` rel="${escapeText([...rels].sort().join(' '))}"`
  const targetText = target === null ? '' : ` target="${escapeText(asText(runtime, target))}"`
  const style: Style = {
    limit: limit === null ? null : asInteger(runtime, limit, 0),
    attributes: relText + targetText,
    schemes: schemes === null ? [] : toArray(runtime, schemes).map((one) => asText(runtime, one)),
  }
  for (const scheme of style.schemes) {
    if (!/^[\w.+-]{2,}:\/{0,2}$/.test(scheme)) {
      runtime.fail(`'${scheme}' is not a valid URI scheme prefix.`)
    }
  }
  const words = text.split(/(\s+)/)
  runtime.spend(words.length * (3 + style.schemes.length))
  return joinTexts(
    runtime,
    '',
    words.map((word) => linkWord(word, style)),
  )
}

function linkWord(word: string, style: Style): string {
  const head = /^(?:[(<]|&lt;)+/.exec(word)?.[0] ?? ''
  let middle = word.slice(head.length)
  const end = tailStart(middle)
  let tail = middle.slice(end)
  middle = middle.slice(0, end)
  // A bracket that opens inside the address takes its partner back from the tail.
  for (const [open, close] of [
    ['(', ')'],
    ['<', '>'],
    ['&lt;', '&gt;'],
  ] as const) {
    const opened = countText(middle, open)
    if (opened <= countText(middle, close)) continue
    for (let left = Math.min(opened, countText(tail, close)); left > 0; left--) {
      const at = tail.indexOf(close) + close.length
      middle += tail.slice(0, at)
      tail = tail.slice(at)
    }
  }
  return head + (linkAddress(middle, style) ?? middle) + tail
}

/** Index at which the punctuation at the end of a word begins. */
function tailStart(word: string): number {
  let at = word.length
  for (;;) {
    if (word.endsWith('&gt;', at)) at -= 4
    else if (at > 0 && ')>.,'.includes(word.charAt(at - 1))) at--
    else return at
  }
}

function linkAddress(text: string, { limit, attributes, schemes }: Style): string | null {
  const shown =
    limit !== null && textLength(text) > limit ? `${sliceText(text, 0, limit)}...` : text
  if (urlPattern.test(text)) {
    const hasScheme = text.startsWith('https://') || text.startsWith('http://')
    return `<a href="${hasScheme ? '' : 'https://'}${text}"${attributes}>${shown}</a>`
  }
  if (text.startsWith('mailto:') && emailPattern.test(text.slice(7))) {
    return `<a href="${text}">${text.slice(7)}</a>`
  }
  const isMail = text.includes('@') && !text.startsWith('www.') && !text.includes(':')
  if (isMail && emailPattern.test(text)) return `<a href="mailto:${text}">${text}</a>`
  const scheme = schemes.find((one) => text !== one && text.startsWith(one))
  return scheme === undefined ? null : `<a href="${text}"${attributes}>${text}</a>`
}
