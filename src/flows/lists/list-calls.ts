import { routes } from '../../contract/routes.ts'
import type { Steps } from '../../mcp/call/tool.ts'
import { type ListColumns, listView } from '../../views/list.ts'
import { answerNote, answerOption, answerShape, readCallsByAnswer } from './calls-by-answer.ts'
import { onePage, treeOptions } from './list-steps.ts'
import { severalAccountsShape, whyNoSubaccounts } from './several-accounts.ts'
import { readSubaccountList } from './subaccount-list.ts'

const options = { ...answerOption, ...treeOptions }

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
    // A call that nobody answered has no start.
    'created',
    'duration_seconds',
    'external_id',
  ],
  isSpeech: true,
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
 * Steps of list_calls: one page of the platform's list, or calls chosen by their answer, which the
 * platform does not filter by. Why calls failed is their answer, so failed ones are counted by it.
 */
export const listCallsSteps: Steps<typeof routes.calls.list, typeof options> = {
  options,
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
}
