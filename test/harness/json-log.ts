import * as z from 'zod'

const LogLine = z.looseObject({
  time: z.iso.datetime(),
  level: z.enum(['error', 'warn', 'notice', 'info']),
})

/** Parses a log of JSON lines. Throws if a line is not a log entry. */
export const jsonLog = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => LogLine.parse(JSON.parse(line)))

/** Log entries of tool calls, reduced to fields that do not vary between runs. */
export const toolCallsIn = (text: string) =>
  jsonLog(text)
    .filter(({ event }) => event === 'tool_call')
    .map(({ tool, outcome, platform }) => ({ tool, outcome, platform }))
