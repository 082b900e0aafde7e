import { button } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import type { AgentData } from './data.ts'

/** Reference to an agent and its account. */
interface Wanted {
  readonly agentId: string
  readonly accountId: string | undefined
}

let closed: string | undefined

/** Id of the agent whose settings the user has opened. */
export const openedId = ({ opened }: AgentData): string | undefined =>
  opened?.id === closed ? undefined : opened?.id

/** A button that reads and shows an agent's settings, and hides them again. */
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
  const account = accountOf(accountId, page.input)
  return button(
    text,
    () => {
      closed = isOpen ? agentId : undefined
      if (data.opened?.id === agentId) page.redraw()
      else page.call('get_agent', { agent_id: agentId, ...account }, { join: withOpened })
    },
    { id, 'aria-expanded': String(isOpen), dir: 'auto' },
  )
}

/**
 * Tool arguments that select the agent's account: `known`, or else the account in the tool call
 * whose result is shown. Empty for the API key's own account.
 */
function accountOf(known: string | undefined, { account_id: given }: Page<AgentData>['input']) {
  const id = known ?? given
  return id === undefined ? {} : { account_id: id }
}

const withOpened = (shown: AgentData, more: AgentData): AgentData => ({
  ...shown,
  opened: more,
})
