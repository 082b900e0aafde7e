/** What to do where the system refuses to open more files and connections; empty for other errors. */
export function openFilesHint({ message }: Error): string {
  return /EMFILE|ENFILE|too many open files/i.test(message)
    ? ' The program may open no more files and connections: raise the limit (ulimit -n) and start it again.'
    : ''
}
