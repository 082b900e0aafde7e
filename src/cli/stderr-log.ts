/** Writes one line to standard error. Standard output is for protocol messages only. */
export function log(message: string): void {
  process.stderr.write(`voice-agent-mcp: ${message}\n`)
}
