import { id } from '../../contract/field.ts'
import { routes } from '../../contract/routes.ts'
import { badArguments } from '../../mcp/call/refused.ts'
import type { Steps } from '../../mcp/call/tool.ts'
import { ConversationReport, conversationReport } from '../../views/call-report.ts'
import { transcriptOptions } from '../../views/transcript.ts'

const options = { id: id('conversation_id: usually the call id.'), ...transcriptOptions }

/** Reads one conversation from the list: the platform has no operation for a single one. */
export const getConversationSteps: Steps<typeof routes.conversations.list, typeof options> = {
  options,
  without: Object.keys(routes.conversations.list.query.shape),
  schema: ConversationReport,
  async run({ request: { params }, options: given, session, signal }) {
    const query = { conversation_id: given.id, limit: 1 }
    const { items } = await session.client.call(
      routes.conversations.list,
      { params, query },
      signal,
    )
    const [conversation] = items
    if (conversation) return conversationReport(conversation, given)
    throw badArguments([
      {
        argument: 'id',
        message: `no conversation ${given.id} in this account and its subaccounts; list_conversations shows them`,
      },
    ])
  },
}
