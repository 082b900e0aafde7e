import { asInteger, asText } from '../python/arguments.ts'
import { toArray } from '../python/iterate.ts'
import { escapeText } from '../python/markup.ts'
import type { BoundArguments } from '../python/method.ts'
import type { Runtime } from '../python/runtime.ts'
import { joinTexts } from '../python/string-operations.ts'
import { countText, sliceText, splitWords, textLength } from '../python/text.ts'
import { isTrue } from '../python/values.ts'

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

/** Makes links of the web and mail addresses in escaped text. */
export function urlize(runtime: Runtime, text: string, args: BoundArguments): string {
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

/** Where the punctuation at the end of a word begins. */
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
