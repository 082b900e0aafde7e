import { redactor } from '../../platform/key-redaction.ts'
import type { Result } from './findings.ts'

/** Minimum length of a removed secret. A shorter secret may be a common word. */
const shortestSecret = 8

/**
 * Removes secrets from a result: settings marked as secret, and passwords in URLs. This program's
 * texts contain none, but quoted texts of a platform or a database may.
 */
export function secretFree({
  secrets,
  env,
}: {
  readonly secrets: readonly string[]
  readonly env: NodeJS.ProcessEnv
}): (result: Result) => Result {
  const addresses = [...secrets, env.HTTPS_PROXY ?? '', env.https_proxy ?? '']
  const passwords = addresses.flatMap((text) => {
    const password = URL.parse(text)?.password
    // A password is removed only inside a URL, because it may be a common word.
    return password ? [password, decoded(password)].map((one) => `:${one}@`) : []
  })
  const keys = secrets.flatMap((secret) => [secret, ...secret.split(',').map((one) => one.trim())])
  const redactors = [...new Set(keys)]
    .filter((key) => key.length >= shortestSecret)
    .toSorted((a, b) => b.length - a.length)
    .map(redactor)
  const free = (text: string) =>
    redactors.reduce(
      (rest, redact) => redact(rest),
      passwords.reduce((rest, password) => rest.replaceAll(password, ':[password]@'), text),
    )
  return (result) => ({
    ...result,
    text: free(result.text),
    ...(result.details && { details: result.details.map(free) }),
    ...(result.todo !== undefined && { todo: free(result.todo) }),
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
