/** Whether a text is an id, not a name: the platform's ids are UUIDs [R]. */
export const isUuid = (text: string): boolean =>
  /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)

/** An id in its usual spelling: case makes no difference in a UUID (RFC 9562 §4), and may elsewhere. */
export const canonicalId = (id: string): string => (isUuid(id) ? id.toLowerCase() : id)
