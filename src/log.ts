import { messageText } from './mcp/client-text.ts'

/** Standard output belongs to the protocol; everything else goes to standard error. */
export function log(message: string): void {
  process.stderr.write(`voice-agent-mcp: ${message}\n`)
}

/** What a client did wrong, or a connection that broke: worth a line, not a stack. */
export function logRefusal(error: Error): void {
  log(messageText(error.message))
}

/** A bug of ours: with the stack, for whoever reports it. What it says may hold a client's text. */
export function logError(error: unknown): void {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const frames = stack.split('\n').filter((line) => /^ {4}at /.test(line))
  log([messageText(String(error)), ...frames].join('\n'))
}
