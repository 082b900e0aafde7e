/** What is typed while a command runs, once its output shows something. */
export interface Typed {
  readonly after: RegExp
  readonly text: string
}

/** A command of the recording, in the root of the clone. */
export interface Scene {
  readonly title: string
  readonly command: string
  /** What is run where the clone is installed, if not the command. */
  readonly whenInstalled?: string
  readonly typed: readonly Typed[]
}

/** The first minute of a newcomer, in a fresh clone. */
export const scenes: readonly Scene[] = [
  {
    title: 'Install and start',
    command: 'npm ci && npm start',
    whenInstalled: 'npm start',
    // Ctrl+C.
    typed: [{ after: /In a browser: .*\n/, text: '\x03' }],
  },
  {
    title: 'Call somebody, on the sandbox',
    command: [
      'node dist/voice-agent-mcp.js call place_call --type phone --to-number +12025550100 \\',
      "    --agent-id 'Support line' --from-number 'Main line' --follow",
    ].join('\n'),
    typed: [{ after: /\[y\/N\] /, text: 'y\n' }],
  },
  {
    title: 'Add it to the clients on this machine',
    command: 'node dist/voice-agent-mcp.js install --print',
    typed: [],
  },
]
