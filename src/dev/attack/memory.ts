import { setInterval } from 'node:timers'
import type { Program } from '../../../test/harness/program.ts'
import { usageOf } from '../measure/process-usage.ts'
import { round } from '../measure/statistics.ts'

/** Where the program is to live on little memory: what docs/deployment.md gives for it. */
export const scarceMemory = {
  MALLOC_ARENA_MAX: '1',
  NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=256',
}

/** The most memory that a program under attack may take, MB. */
export const memoryLimit = 512

export interface Watch {
  /** The most memory that the program has taken so far, MB. */
  most(): number
}

const everyMs = 20

/**
 * Watches the memory of a program and stops the program when it takes more than the limit. It goes
 * by the highest resident memory that the kernel has seen (VmHWM, proc(5)): that misses no peak
 * between two looks, and needs neither rights nor a control group.
 */
export function watchMemory({ process: child, exited }: Program, limit: number): Watch {
  let most = 0
  const look = () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const seen = usageOf(child).mostMemory
    // A process that is just ending has no memory any more, and no figures of it.
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
      return round(most, 0)
    },
  }
}
