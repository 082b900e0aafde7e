import { safeJson } from '../text/safe-text.ts'

/**
 * A result as text for a model: JSON without null, empty values and flags that have their usual
 * value. All other values stay, `false` and `0` too, because they are answers.
 */
export function compactJson(value: unknown): string {
  return safeJson(JSON.stringify(withoutEmpty(value)) ?? '{}')
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) {
    // A position within an array may matter, so no item is left out.
    return value.map((item) => withoutEmpty(item) ?? null)
  }
  if (typeof value !== 'object' || value === null) return value
  const kept: Record<string, unknown> = {}
  for (const [name, given] of Object.entries(value)) {
    const field = withoutEmpty(given)
    if (isEmpty(field) || usual[name] === field) continue
    // As a field of its own, whatever its name.
    if (name === '__proto__') Object.defineProperty(kept, name, { value: field, enumerable: true })
    else kept[name] = field
  }
  return kept
}

/** Flags that are shown only where they differ from this. */
const usual: Readonly<Record<string, unknown>> = {
  is_archived: false,
  is_active: true,
  is_managed: false,
  has_auth_password: false,
  recommended: false,
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
