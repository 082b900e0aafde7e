import { toText } from './repr.ts'
import type { Runtime } from './runtime.ts'
import { Markup, type Value } from './values.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
}

export function escapeText(text: string): string {
  return text.replace(/[&<>'"]/g, (char) => entities[char] ?? char)
}

/** `markupsafe.escape(value)`: text made safe for HTML; markup stays as it is. */
export function escapeValue(runtime: Runtime, value: Value): Markup {
  if (value instanceof Markup) return value
  const text = toText(runtime, value)
  runtime.read(text, 'walk')
  const escaped = escapeText(text)
  runtime.allowLength(escaped.length)
  return new Markup(escaped)
}

/** A string of the same kind as `like`: markup where that is markup. */
export function sameKind(like: Value, text: string): string | Markup {
  return like instanceof Markup ? new Markup(text) : text
}
