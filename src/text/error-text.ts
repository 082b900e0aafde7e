import { messageText } from './client-text.ts'

/** What a client did wrong, or a connection that broke: worth a line, not a stack. */
export const refusalText = (error: Error): string => messageText(error.message)

/** A bug of ours: with the stack, for whoever reports it. What it says may hold a client's text. */
export function bugText(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const frames = stack.split('\n').filter((line) => /^ {4}at /.test(line))
  return [messageText(String(error)), ...frames].join('\n')
}
