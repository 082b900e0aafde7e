import { ProtocolError, ResourceNotFoundError } from '@modelcontextprotocol/server'
import { ApiError, type Failure } from '../../api/failure.ts'
import { failureText } from '../../api/failure-text.ts'
import type { Session } from '../../session/session.ts'

interface ErrorContext {
  readonly session: Pick<Session, 'redact'>
  /** Receives errors that are defects of this program. */
  readonly onBug: (error: unknown) => void
}

/**
 * Runs a read of the platform and turns its failures into errors of the protocol: ApiError of what
 * does not exist into ResourceNotFoundError, every other one into an error that says why. `what` is
 * the address of the resource, or the words for it.
 */
export async function withProtocolErrors<T>(
  what: string,
  context: ErrorContext,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    if (error instanceof ApiError) throw readError(what, error.failure, context)
    context.onBug(error)
    throw new ProtocolError(
      -32603,
      `${what}: a defect in voice-agent-mcp; its log has the details.`,
    )
  }
}

function readError(what: string, failure: Failure, { session }: ErrorContext): ProtocolError {
  const status = failure.kind === 'rejected' ? failure.status : undefined
  if (failure.kind === 'bad_parameter' || status === 404) {
    return new ResourceNotFoundError(session.redact(what))
  }
  return new ProtocolError(
    status === 422 ? -32602 : -32603,
    session.redact(`${what} could not be read (${failureText(failure)}).`),
    { uri: what },
  )
}
