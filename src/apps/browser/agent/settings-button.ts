import { button } from '../shared/controls.ts'
import type { Page } from '../shared/view.ts'
import type { AgentData } from './data.ts'
import { accountArgs } from './related-objects.ts'

let closed: string | undefined

/** Id of the agent whose settings the user has opened. */
export const openedId = ({ opened }: AgentData): string | undefined =>
  opened?.id === closed ? undefined : opened?.id

interface SettingsButton {
  readonly id: string
  readonly text: string
  readonly agentId: string
  /** The agent's account; if unknown, the account in the tool call whose result is shown. */
  readonly accountId: string | undefined
}

/** A button that reads and shows an agent's settings, and hides them again. */
export function settingsButton(
  { id, text, agentId, accountId }: SettingsButton,
  data: AgentData,
  page: Page<AgentData>,
): HTMLElement {
  const isOpen = openedId(data) === agentId
  const account = accountArgs(accountId ?? page.input.account_id)
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

const withOpened = (shown: AgentData, more: AgentData): AgentData => ({
  ...shown,
  opened: more,
})
