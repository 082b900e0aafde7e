/** Standard output belongs to the protocol; everything else goes to standard error. */
export function log(message: string): void {
  process.stderr.write(`voice-agent-mcp: ${message}\n`)
}
