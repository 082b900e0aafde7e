import { setInterval } from 'node:timers'
import type { Program } from '../../harness/program.ts'
import { usageOf } from '../measure/program.ts'

/** The options for little memory of docs/deployment.md. */
export const scarceMemory = {
  MALLOC_ARENA_MAX: '1',
  NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=256',
}

/** The most memory that an attacked program may take, MB. */
export const memoryLimit = 512

export interface MemoryWatch {
  /** The most memory that the program has taken so far, MB. */
  most(): number
}

const everyMs = 20

/**
 * Stops a program when it takes more memory than the limit. It reads the highest resident memory
 * that the kernel has recorded (VmHWM, proc(5)): that includes peaks between two reads, and needs
 * neither privileges nor a control group.
 */
export function watchMemory({ process: child, exited }: Program, limit: number): MemoryWatch {
  let most = 0
  const look = () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const seen = usageOf(child).mostMemory
    // NaN while the process ends.
    if (Number.isNaN(seen)) return
    most = seen
    if (most > limit) child.kill('SIGKILL')
  }
  look()
  const timer = setInterval(look, everyMs)
  exited.then(() => clearInterval(timer))
  return {
    most: () => {
      look()
      // Rounded up: a program that was stopped at 512.3 MB has taken more than 512.
      return Math.ceil(most)
    },
  }
}
