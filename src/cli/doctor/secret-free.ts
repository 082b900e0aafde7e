import type { Inspection } from '../../service/inspection.ts'
import type { Result } from './report.ts'

/** A shorter one may be a usual word. */
const shortestSecret = 8

/**
 * Removes secrets from a result: the settings that are marked as secret, and passwords in addresses.
 * No check repeats them; this holds for what others say, such as a platform or a database.
 */
export function secretFree(
  { secrets, env }: { readonly secrets: readonly string[]; readonly env: NodeJS.ProcessEnv },
  { redactor }: Pick<Inspection, 'redactor'>,
): (result: Result) => Result {
  const addresses = [...secrets, env.HTTPS_PROXY ?? '', env.https_proxy ?? '']
  const passwords = addresses.flatMap((text) => {
    const password = URL.parse(text)?.password
    // Only as a part of an address: a password may be any word.
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
