import type { Call } from '../contract/call.ts'
import type { Message } from '../contract/conversation.ts'

/** Counts the outcomes of calls. */
export function outcomesOf(calls: readonly Call[]) {
  const lengths = calls.flatMap(({ duration_seconds }) =>
    typeof duration_seconds === 'number' && duration_seconds > 0 ? [duration_seconds] : [],
  )
  const sum = lengths.reduce((total, seconds) => total + seconds, 0)
  return {
    calls: calls.length,
    status: countBy(calls, ({ status }) => status),
    answer_status: countBy(calls, ({ answer_status }) => answer_status),
    average_seconds: lengths.length > 0 ? Math.round(sum / lengths.length) : null,
  }
}

function countBy<T>(items: readonly T[], by: (item: T) => string | null | undefined) {
  const counts: Record<string, number> = {}
  for (const item of items) {
    const name = by(item) ?? 'unknown'
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** How many of the slowest answers are shown. */
const mostSlowAnswers = 3

/** What the timestamps of a transcript show. The result holds no words of the transcript. */
export function timingOf(messages: readonly Message[]) {
  const turns = messages.flatMap(({ role, timestamp }, index) => {
    const at = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN
    return Number.isNaN(at) ? [] : [{ turn: index + 1, role, at }]
  })
  const answers = turns.flatMap(({ turn, role, at }, index) => {
    const before = turns[index - 1]
    if (role !== 'agent' || before?.role !== 'user') return []
    return [{ turn, seconds_after_caller: Math.round((at - before.at) / 100) / 10 }]
  })
  return {
    turns: countBy(messages, ({ role }) => role),
    // Measured from the start of the caller's turn, so it includes the time that the caller spoke.
    slowest_answers: answers
      .sort((a, b) => b.seconds_after_caller - a.seconds_after_caller)
      .slice(0, mostSlowAnswers),
    last_role: messages.at(-1)?.role ?? null,
  }
}
