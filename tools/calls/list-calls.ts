import * as z from 'zod'
import { type AnswerStatus, answerStatuses } from '../../src/contract/answer-status.ts'
import { routes } from '../../src/contract/routes.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import {
  onePage,
  readSubaccountList,
  treeOptions,
  withAccount,
} from '../../src/tool/lists/list-steps.ts'
import {
  type CollectedItems,
  type ListColumns,
  type ListItem,
  listDefaults,
  listView,
} from '../../src/tool/lists/list-view.ts'
import {
  failedAccounts,
  listNotes,
  mergedItems,
  severalAccountsShape,
  type TreeRun,
  whyNoSubaccounts,
  withBranches,
} from '../../src/tool/lists/several-accounts.ts'
import { answerInWords } from '../../src/tool/results/call-report.ts'

/** Fields of a list that counts calls by answer. */
const answerShape = {
  by_answer_status: z
    .record(z.string(), z.int())
    .optional()
    .describe('How many calls with the other filters have each answer_status.'),
}

const columns: ListColumns = {
  shows: [
    'id',
    'status',
    'answer_status',
    'direction',
    'agent_id',
    'agent_name',
    'from_number',
    'to_number',
    // An unanswered call has no start.
    'created',
    'duration_seconds',
    'external_id',
  ],
  speechTool: 'get_call',
  added: { item: {}, result: answerShape },
}
const ofOne = listView(routes.calls.list, columns)
const ofSeveral = listView(routes.calls.list, {
  ...columns,
  added: {
    item: severalAccountsShape.item,
    result: { ...severalAccountsShape.result, ...answerShape },
  },
})

/**
 * One page of the platform's list, or calls filtered by answer, which the platform does not
 * support. The answer is the reason for a failure, so failed calls are counted by it.
 */
export const listCalls = defineTool({
  name: 'list_calls',
  title: 'List calls',
  description:
    'Lists calls of an account, filtered by agent, status, who picked up, dates or external_id. Failed calls are counted by answer_status, the reason; get_call returns a transcript. include_subaccounts adds those of its subaccounts.',
  route: routes.calls.list,
  defaults: listDefaults,
  options: {
    answer_status: z
      .array(z.enum(answerStatuses))
      .optional()
      .describe('user_unavailable: nobody answered.'),
    ...treeOptions,
  },
  schema: ofSeveral.schema,
  hasTimeLimit: true,
  async run(run) {
    const { include_subaccounts: isTree = false, answer_status: answers } = run.options
    const note = isTree ? whyNoSubaccounts(run.restricted) : undefined
    const of = isTree && note === undefined ? 'account and subaccounts' : 'account'
    const view = of === 'account' ? ofOne : ofSeveral
    const notes = (...all: (string | undefined)[]) => all.filter(Boolean).join(' ') || undefined
    if (answers !== undefined || run.request.query.status === 'failed') {
      const list = await readCallsByAnswer(run, { answers, of })
      return view.collected({ ...list, note: notes(note, list.note) }, run.request, run.options)
    }
    if (of === 'account') {
      return onePage(routes.calls.list, view, run, (calls) => notes(note, answerNote(calls)))
    }
    const list = await readSubaccountList(routes.calls.list, run, 'latest_first')
    const explained = { ...list, note: notes(list.note, answerNote(list.items)) }
    return view.collected(explained, run.request, run.options)
  },
  shortening: ofOne.shortening,
})

/** Bound for the calls that are read to filter them by answer, which the platform does not support. */
const maxRead = 2000
const perPage = 100

interface AnswerQuery {
  /** Keeps calls with any of these answers; `undefined`: all calls. */
  readonly answers: readonly AnswerStatus[] | undefined
  readonly of: 'account' | 'account and subaccounts'
}

/**
 * A page of the calls with these answers, and the counts per answer of all read calls that match
 * the other filters. Throws ApiError.
 */
function readCallsByAnswer(run: TreeRun, { answers, of }: AnswerQuery): Promise<CollectedItems> {
  const { limit: given, offset, ...filters } = run.request.query
  const [limit, from] = [Number(given), Number(offset ?? 0)]
  return withBranches(
    routes.calls.list,
    { ...run, of, filters, perPage },
    async (branches, tree) => {
      const order = 'latest_first'
      const { items, hasMore } = await mergedItems(branches, { from: 0, to: maxRead, order })
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

/** Explains the answer statuses of these calls that need it. */
function answerNote(calls: readonly ListItem[]): string | undefined {
  const found = new Set(calls.map(({ answer_status }) => answer_status))
  const explained = answerStatuses.filter((one) => one.startsWith('user_') && found.has(one))
  if (explained.length === 0) return undefined
  return `answer_status: ${explained.map(answerInWords).join(', ')}.`
}
