const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** An id in its usual spelling: case makes no difference in a UUID (RFC 9562 §4), and may elsewhere. */
export const canonicalId = (id: string): string => (uuid.test(id) ? id.toLowerCase() : id)
