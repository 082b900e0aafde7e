/** True if a text is an id and not a name. The platform's ids are UUIDs [R]. */
export const isUuid = (text: string): boolean =>
  /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)

/**
 * An id in a form for comparing. UUIDs ignore case (RFC 9562 §4), so they become lower case; other
 * ids stay unchanged.
 */
export const canonicalId = (id: string): string => (isUuid(id) ? id.toLowerCase() : id)
