import { messageText } from './client-text.ts'

/** An error of a client, or a broken connection: one line, no stack. */
export const errorText = (error: Error): string => messageText(error.message)

/** A defect of this program: with the stack, for the report. Its message may hold a client's text. */
export function bugText(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const frames = stack.split('\n').filter((line) => /^ {4}at /.test(line))
  return [messageText(String(error)), ...frames].join('\n')
}
