import type { Inspection } from '../../service/inspection.ts'
import type { Result } from './report.ts'

/**
 * Removes secrets from a result: the settings that are marked as secret, and passwords in addresses.
 * No check repeats them; this holds for what others say, such as a platform or a database.
 */
export function secretFree(
  { secrets, env }: { readonly secrets: readonly string[]; readonly env: NodeJS.ProcessEnv },
  { redactor }: Inspection,
): (result: Result) => Result {
  const addresses = [...secrets, env.HTTPS_PROXY ?? '', env.https_proxy ?? '']
  const passwords = addresses.flatMap((text) => {
    const password = URL.parse(text)?.password
    return password ? [password, decoded(password)] : []
  })
  const parts = secrets.flatMap((secret) => secret.split(',').map((part) => part.trim()))
  const all = [...new Set([...secrets, ...parts, ...passwords])].filter((text) => text.length > 3)
  const redactors = all.toSorted((a, b) => b.length - a.length).map(redactor)
  const free = (text: string) => redactors.reduce((rest, redact) => redact(rest), text)
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
