import { type Check, green } from './check.ts'

/** The program and the Node.js that runs it. An older Node.js is refused before this. */
export const nodeCheck = (version: string): Check => ({
  name: 'node',
  title: 'Program',
  run: () =>
    green(
      `voice-agent-mcp ${version} with Node.js ${process.versions.node} (${process.execPath}) on ${process.platform} ${process.arch}.`,
    ),
})
