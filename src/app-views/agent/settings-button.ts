import { h, listen } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import type { AgentData } from './data.ts'

/** Which agent is meant, and whose it is. */
export interface Wanted {
  readonly agentId: string
  readonly accountId: string | undefined
}

let closed: string | undefined

/** The id of the agent whose settings are shown because the user wanted to see them. */
export const openedId = ({ opened }: AgentData): string | undefined =>
  opened?.id === closed ? undefined : opened?.id

/** A button that reads an agent and shows its settings, and hides them again. */
export function settingsButton(
  { agentId, accountId }: Wanted,
  {
    id,
    text,
    data,
    page,
  }: {
    readonly id: string
    readonly text: string
    readonly data: AgentData
    readonly page: Page<AgentData>
  },
): HTMLElement {
  const isOpen = openedId(data) === agentId
  const button = h('button', { id, 'aria-expanded': String(isOpen) }, text)
  const account = accountOf(accountId, page.input)
  return listen(button, 'click', () => {
    closed = isOpen ? agentId : undefined
    if (data.opened?.id === agentId) page.redraw()
    else page.call('get_agent', { agent_id: agentId, ...account }, { join: withOpened })
  })
}

/** Absent: the account of the key, as in the call whose result is shown. */
function accountOf(known: string | undefined, { account_id: given }: Page<AgentData>['input']) {
  const id = known ?? given
  return id === undefined ? {} : { account_id: id }
}

const withOpened = (shown: AgentData, more: AgentData): AgentData => ({
  ...shown,
  opened: more,
})
