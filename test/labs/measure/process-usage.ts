import { readFileSync } from 'node:fs'

/** What a process uses, from /proc (proc(5), Linux only). */
export interface ProcessUsage {
  /** Processor time so far, s. */
  readonly cpu: number
  /** Resident memory now and at most, MB; NaN while the process ends. */
  readonly memory: number
  readonly mostMemory: number
}

export function usageOf({ pid }: { readonly pid?: number | undefined }): ProcessUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // Fields 14 and 15, in hundredths of a second. Fields are counted after the name in parentheses,
  // because the name may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return {
    cpu: (Number(fields[11]) + Number(fields[12])) / 100,
    memory: megabytes('VmRSS'),
    mostMemory: megabytes('VmHWM'),
  }
}
