import * as z from 'zod'
import { type AnswerStatus, answerStatuses } from '../../contract/answer-status.ts'
import { routes } from '../../contract/routes.ts'
import { answerInWords } from '../../views/answer-in-words.ts'
import type { CollectedItems, ListItem } from '../../views/list.ts'
import { mergedItems } from './merged-list.ts'
import { failedAccounts, listNotes, type TreeRun, withBranches } from './several-accounts.ts'
import { withAccount } from './subaccount-list.ts'

/** The platform has no filter by answer: its calls are read, as many as this, and chosen here. */
const mostRead = 2000
const perPage = 100

export const answerOption = {
  answer_status: z
    .array(z.enum(answerStatuses))
    .optional()
    .describe('user_unavailable: nobody answered.'),
}

/** What a list has that was read to count calls by their answer. */
export const answerShape = {
  by_answer_status: z
    .record(z.string(), z.int())
    .optional()
    .describe('How many calls with the other filters have each answer_status.'),
}

export interface AnswerQuery {
  /** Any of these; `undefined`: all calls. */
  readonly answers: readonly AnswerStatus[] | undefined
  readonly of: 'account' | 'account and subaccounts'
}

/**
 * A page of the calls with these answers, and how many calls have which: of all that match the other
 * filters, as far as they were read. Throws ApiError.
 */
export function readCallsByAnswer(
  run: TreeRun,
  { answers, of }: AnswerQuery,
): Promise<CollectedItems> {
  const { limit: given, offset, ...filters } = run.request.query
  const [limit, from] = [Number(given), Number(offset ?? 0)]
  return withBranches(
    routes.calls.list,
    { ...run, of, filters, perPage },
    async (branches, tree) => {
      const order = 'latest_first'
      const { items, hasMore } = await mergedItems(branches, { from: 0, to: mostRead, order })
      const isPart = hasMore || tree.hasMore || branches.some(({ isCut }) => isCut)
      const [only] = branches
      if (of === 'account' && only?.error) throw only.error
      const failed = failedAccounts(branches, tree, run)
      const chosen = items.filter(({ item }) => isOneOf(answers, item))
      const end = from + limit
      const page = chosen.slice(from, end)
      const calls = items.map(({ item }) => item)
      const notes = [
        hasMore &&
          `Only the first ${items.length} calls were read: narrow created_after and created_before.`,
        listNotes(branches, tree, { failed, from }),
        answerNote(calls),
      ]
      return {
        items: of === 'account' ? page.map(({ item }) => item) : page.map(withAccount),
        total: isPart || failed.length > 0 ? null : chosen.length,
        nextOffset: end < chosen.length ? end : null,
        note: notes.filter(Boolean).join(' ') || undefined,
        rest: {
          ...(failed.length > 0 && { failed_accounts: failed }),
          by_answer_status: countsByAnswer(calls),
        },
      }
    },
  )
}

const isOneOf = (answers: AnswerQuery['answers'], { answer_status }: ListItem) =>
  answers === undefined || answers.some((one) => one === answer_status)

function countsByAnswer(calls: readonly ListItem[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const { answer_status } of calls) {
    const answer = typeof answer_status === 'string' ? answer_status : 'none'
    counts.set(answer, (counts.get(answer) ?? 0) + 1)
  }
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a))
}

/** What the answers of these calls mean, apart from those that need no explanation. */
export function answerNote(calls: readonly ListItem[]): string | undefined {
  const found = new Set(calls.map(({ answer_status }) => answer_status))
  const explained = answerStatuses.filter((one) => one.startsWith('user_') && found.has(one))
  if (explained.length === 0) return undefined
  return `answer_status: ${explained.map(answerInWords).join(', ')}.`
}
