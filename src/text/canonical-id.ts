/** True if a text is an id and not a name. The platform's ids are UUIDs [R]. */
export const isUuid = (text: string): boolean =>
  /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)

/**
 * An id in a form for comparing. UUIDs become lower case, because their case has no meaning
 * (RFC 9562 §4). Other ids stay unchanged.
 */
export const canonicalId = (id: string): string => (isUuid(id) ? id.toLowerCase() : id)
