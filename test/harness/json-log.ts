import * as z from 'zod'

const LogLine = z.looseObject({
  time: z.iso.datetime(),
  level: z.enum(['error', 'warn', 'notice', 'info']),
})

/** The lines of a log in JSON. Throws where a line is not one object. */
export const jsonLog = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => LogLine.parse(JSON.parse(line)))

/** Those of the tool calls, without what differs from run to run. */
export const toolCallsIn = (text: string) =>
  jsonLog(text)
    .filter(({ event }) => event === 'tool_call')
    .map(({ tool, outcome, platform }) => ({ tool, outcome, platform }))
