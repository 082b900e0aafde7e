import type { ApiError } from './failure.ts'

/** Whether the platform may have made the change although the request failed. */
export function mayBeDone({ failure, effect }: ApiError): boolean {
  if (effect === 'reads') return false
  if ('maybeSent' in failure) return failure.maybeSent
  if (failure.kind === 'unreadable') return failure.status < 400 || failure.status >= 500
  return failure.kind === 'rejected' && failure.status >= 500
}
