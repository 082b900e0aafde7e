/** Environment variables with which SIGUSR2 sets a program's clock forward by an hour. */
export const settableClock = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    'const now = Date.now; let set = 0; Date.now = () => now() + set; process.on("SIGUSR2", () => { set = 3600000 })',
  )}`,
}
