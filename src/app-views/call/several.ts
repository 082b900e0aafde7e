import { plainText } from '../../text/plain-text.ts'
import { h, listen } from '../shared/dom.ts'
import { columnHead, scrolledTable } from '../shared/table.ts'
import type { Page } from '../shared/view.ts'
import type { CallData, ListedCall } from './data.ts'

/** The calls of a list, one row for each; a row leads to its call. */
export function severalCalls(calls: readonly ListedCall[], page: Page<CallData>): HTMLElement {
  const { account_id } = page.input
  const account = account_id ? { account_id } : {}
  const open = (call_id: string, at: number) =>
    listen(
      h('button', { id: `open-${at}`, 'aria-label': `Show call ${at + 1}` }, 'Show'),
      'click',
      () => {
        page.call('get_call', { ...account, call_id })
      },
    )
  const row = (call: ListedCall, at: number) =>
    h(
      'tr',
      {},
      h(
        'th',
        { scope: 'row', class: 'nowrap' },
        plainText(call.to_number ?? '') || `Call ${at + 1}`,
      ),
      h('td', {}, wordsOf(call)),
      h(
        'td',
        { class: 'number' },
        typeof call.duration_seconds === 'number' ? page.formats.length(call.duration_seconds) : '',
      ),
      h('td', {}, lastWords(call)),
      page.host.canCallTools() && h('td', {}, call.call_id ? open(call.call_id, at) : ''),
    )
  const heads = ['To', 'Result', 'Length', 'Said last']
  return scrolledTable({
    id: 'calls',
    label: 'Calls',
    head: [
      ...heads.map((head) => columnHead(head)),
      page.host.canCallTools() && columnHead('Call'),
    ],
    rows: calls.map(row),
  })
}

const wordsOf = ({ outcome, state, problem }: ListedCall) =>
  [state ?? outcome, problem]
    .filter(Boolean)
    .map((part) => plainText(part ?? '').replaceAll('_', ' '))
    .join(': ')

const lastWords = ({ last_words }: ListedCall) =>
  last_words
    ? h(
        'div',
        { class: 'user said' },
        h('span', { class: 'mark' }, 'unverified speech'),
        plainText(last_words),
      )
    : ''
