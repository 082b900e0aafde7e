import {
  countedInDialog,
  dialogText,
  joinDialogTexts,
  quoted,
  quotedUpTo,
} from '../../src/text/dialog-text.ts'
import { accountForPerson } from '../../src/tool/account.ts'
import { type Confirmable, valuesOf } from '../../src/tool/confirmation-question.ts'
import type { ItemSelection } from '../../src/tool/selection.ts'
import type { Run } from '../../src/tool/tool.ts'

/** Names in a question; the count has the others. */
const maxNamed = 20

/** Asks before several agents get a greeting with variables that nothing fills. */
export async function greetingQuestion(
  message: string,
  unknown: readonly string[],
  { items }: ItemSelection,
  run: Pick<Run, 'request' | 'session' | 'restricted' | 'signal'>,
): Promise<Confirmable> {
  const names = items.slice(0, maxNamed).map(({ given }) => quoted(given))
  const more = items.length - names.length
  return {
    kind: 'speaks',
    question: dialogText`Give ${countedInDialog(items.length, dialogText`agent`)} a greeting with variables that nothing is known to fill?`,
    facts: {
      'Unknown variables': quotedUpTo(unknown.join(', '), 500),
      Agents: dialogText`${joinDialogTexts(names, ', ')}${more > 0 ? dialogText` and ${more} more` : dialogText``}`,
      Account: await accountForPerson(run),
      ...(run.session.undoLog && { Undo: dialogText`update_agent with the undo of the result.` }),
    },
    values: valuesOf('initial_message', { message }),
    scope: items.map((item) =>
      'id' in item ? `${item.account?.id ?? ''} ${item.id}` : item.given,
    ),
  }
}
