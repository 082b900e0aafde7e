import { createInterface } from 'node:readline/promises'

/** The person has pressed Ctrl+C at a question: not only this one is meant, but the whole command. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
}

/** Asks the person at the terminal. */
export interface Questions {
  /** Enter means `usual`; the end of the input means no. Throws InterruptedError. */
  confirm(question: string, usual: boolean): Promise<boolean>
}

/** Questions on standard error, so that standard output has the result alone. */
export function terminalQuestions(
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Questions {
  return {
    async confirm(question, usual) {
      const lines = createInterface({ input, output })
      const ended = new Promise<undefined>((resolve, reject) => {
        lines.once('close', () => resolve(undefined))
        lines.once('SIGINT', () => reject(new InterruptedError()))
      })
      try {
        for (;;) {
          const hint = usual ? '[Y/n]' : '[y/N]'
          const answer = await Promise.race([lines.question(`${question} ${hint} `), ended])
          if (answer === undefined) {
            // Ctrl+D leaves the cursor behind the question.
            output.write('\n')
            return false
          }
          const word = answer.trim().toLowerCase()
          if (word === '') return usual
          if (['y', 'yes', 'n', 'no'].includes(word)) return word.startsWith('y')
        }
      } finally {
        lines.close()
      }
    },
  }
}
