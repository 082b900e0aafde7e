import { safeLine } from '../../text/safe-text.ts'
import { type Outcome, outcomeJson } from './outcome.ts'

/** Tells the person, or another program, what is done. */
export interface Report {
  /** A change that is about to be decided. */
  change(outcome: Outcome): void
  /** What became of a client's file. */
  result(outcome: Outcome): void
  /** At the end: what holds for all, and what is left to do. */
  end(outcomes: readonly Outcome[], notes: readonly string[]): void
}

/** Text that is written as it goes on. */
export function textReport(print: (line: string) => void): Report {
  const shown = new Set<string>()
  const head = ({ client, file, change }: Outcome) => {
    if (shown.has(client.id)) return
    shown.add(client.id)
    print(`${client.title}: ${safeLine(file)}`)
    for (const line of change) print(`  ${line}`)
  }
  return {
    change: head,
    result(outcome) {
      head(outcome)
      print(`  ${resultText(outcome)}`)
      for (const note of outcome.notes) print(`  ${safeLine(note)}`)
      if (outcome.backup !== undefined) print(`  As it was before: ${safeLine(outcome.backup)}`)
      if (outcome.status === 'written') print(`  ${outcome.client.restart}`)
      print('')
    },
    end(_, notes) {
      for (const note of notes) print(note)
    },
  }
}

const resultText = ({ status }: Outcome) => resultTexts[status]

const resultTexts = {
  written: 'Written.',
  planned: 'Not written: --print only shows.',
  unchanged: 'Nothing to change.',
  declined: 'Left as it is.',
  failed: 'Not changed.',
} satisfies Record<Outcome['status'], string>

/** One JSON object at the end. */
export const jsonReport = (print: (line: string) => void): Report => ({
  change: () => undefined,
  result: () => undefined,
  end(outcomes, notes) {
    print(JSON.stringify({ clients: outcomes.map(outcomeJson), notes }, undefined, 2))
  },
})
