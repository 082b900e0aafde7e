import * as z from 'zod'
import { Account } from '../src/contract/account.ts'
import { routes } from '../src/contract/routes.ts'
import { accountInUse } from '../src/platform/sessions/account.ts'
import { dialogText, quotedNameWithId } from '../src/text/dialog-text.ts'
import { accountForPerson } from '../src/tool/account-reader.ts'
import { ChangeRecorder, undoShape } from '../src/tool/change-recorder.ts'
import { confirmOption } from '../src/tool/confirmation.ts'
import { type Confirmable, confirmationShape, valuesOf } from '../src/tool/confirmation-question.ts'
import { defineTool } from '../src/tool/define-tool.ts'
import { earlierBody, type Fields, notTaken } from '../src/tool/field-changes.ts'
import { countInWords, countOf, runningCalls } from '../src/tool/in-use.ts'
import { listDefaults } from '../src/tool/lists/list-result.ts'
import { listSteps } from '../src/tool/lists/list-steps.ts'
import { badArgument } from '../src/tool/refused.ts'
import type { OutputWithLines, Run } from '../src/tool/tool.ts'
import { changeToUndo, undoOption, withUndoneChange } from '../src/tool/undo.ts'
import { updateWarnings } from '../src/tool/update-items.ts'

/** Returns the account that the tools work on: the API key's own, or the pinned one. */
export const getCurrentAccount = defineTool({
  name: 'get_current_account',
  title: 'Show my account',
  description:
    'Returns the account you are signed in to with the API key: id, name, whether it is active.',
  route: routes.accounts.current,
  schema: Account,
  run: async ({ session, signal }) => ({ structured: await accountInUse(session, signal) }),
})

/** Summary line of a saved subaccount: `Created subaccount "Berlin" (0b4b…), active.` */
const lineOf =
  (verb: string) =>
  ({ id, name, is_active }: Account): string => {
    const state = is_active === false ? ', disabled' : is_active ? ', active' : ''
    return `${verb} subaccount ${quotedNameWithId(name, id)}${state}.`
  }

export const listSubaccounts = defineTool({
  name: 'list_subaccounts',
  title: 'List subaccounts',
  description:
    'Lists the direct subaccounts of an account, such as customers or branches. Other tools take their id or name as account_id.',
  route: routes.accounts.listSubaccounts,
  defaults: listDefaults,
  ...listSteps(routes.accounts.listSubaccounts, { shows: ['id', 'name', 'is_active'] }),
})

export const createSubaccount = defineTool({
  name: 'create_subaccount',
  title: 'Create a subaccount',
  description:
    'Creates a subaccount: a space of its own for the agents and numbers of a customer or branch.',
  route: routes.accounts.createSubaccount,
  line: lineOf('Created'),
})

export const getSubaccount = defineTool({
  name: 'get_subaccount',
  title: 'Show a subaccount',
  description:
    'Returns the details of one subaccount: name, whether it is active, when it was created.',
  route: routes.accounts.getSubaccount,
})

const updateOptions = {
  subaccount_id: z.string().min(1).optional().describe('Subaccount id.'),
  ...confirmOption,
  ...undoOption,
}

/**
 * Changes a subaccount. Disabling an active one needs confirmation, because everything in it stops
 * working.
 */
export const updateSubaccount = defineTool({
  name: 'update_subaccount',
  title: 'Change a subaccount',
  description:
    'Renames, disables or enables a subaccount. Disabling keeps its data, and asks for confirmation if the subaccount is active.',
  route: routes.accounts.updateSubaccount,
  view: 'decision',
  // Neither `name` nor `is_active` can be cleared.
  clears: [],
  options: updateOptions,
  changes: ['undo'],
  schema: routes.accounts.updateSubaccount.reply
    .partial()
    .extend({ ...undoShape, warnings: updateWarnings.optional(), ...confirmationShape }),
  async run(run) {
    const recorder = new ChangeRecorder('subaccount', run.session)
    const undoing = await changeToUndo('subaccount', run)
    const { request, session, restricted, signal } = undoing?.run ?? run
    const selected = undoing?.selected
    const id = selected && 'oneId' in selected ? selected.oneId : request.params.subaccount_id
    if (id === undefined) throw badArgument('subaccount_id', 'give it, or an undo')
    const asked = { params: { ...request.params, subaccount_id: id }, query: {} }
    const read = () => session.client.call(routes.accounts.getSubaccount, asked, signal)
    // Unless it is an undo, an update reads the subaccount only to store the earlier values.
    const isKept = session.undoLog && restricted.mayRead(routes.accounts.getSubaccount)
    const stored = undoing || isKept ? await read() : undefined
    const undonePaths = undoing?.pathsOf(id)
    const undo = undonePaths && stored && earlierBody(stored, undonePaths, [])
    const body: Fields = undo?.body ?? { ...run.request.body }
    if (body.is_active === false) {
      const account = stored ?? (await read())
      await run.confirm(() => questionFor(account, body, { ...run, request: asked }))
    }
    const outcomeOf = (output: OutputWithLines) =>
      recorder.withUndoId(withUndoneChange(undoing, output))
    if (stored && Object.keys(body).length === 0)
      return outcomeOf(resultOf(stored, 'Nothing to take back.', undo?.notes))
    const saved = await recorder.sendFields(stored, { id, body, ...asked }, () =>
      session.client.call(routes.accounts.updateSubaccount, { ...asked, body }, signal),
    )
    const warnings = undo && [...undo.notes, ...notTaken(body, saved)]
    return outcomeOf(resultOf(saved, lineOf('Updated')(saved), warnings))
  },
})

const resultOf = (account: Account, head: string, warnings: readonly string[] = []) => ({
  structured: { ...account, ...(warnings.length > 0 && { warnings }) },
  lines: [head, ...warnings.map((warning) => `Warning: ${warning}`)],
})

type QuestionRun = Pick<Run, 'request' | 'session' | 'restricted' | 'signal'>

async function questionFor(account: Account, body: Fields, run: QuestionRun): Promise<Confirmable> {
  const isInactive = account.is_active === false
  return {
    kind: 'hides',
    stopsNothing: isInactive,
    isDone: account.is_active == null ? undefined : isInactive,
    question: dialogText`Disable the subaccount ${quotedNameWithId(account.name, account.id)}?`,
    facts: {
      Subaccount: quotedNameWithId(account.name, account.id),
      ...(isInactive ? { Note: dialogText`It is not active.` } : await contentsOf(account, run)),
      Parent: await accountForPerson(run),
      Undo: dialogText`update_subaccount with is_active true.`,
    },
    values: Object.entries(body).flatMap(([name, value]) =>
      name === 'is_active' ? [] : valuesOf(name, value),
    ),
    // An undo restores less if fields have changed since, so the confirmation covers only this
    // body.
    scope: body,
  }
}

/** Facts for the person who confirms: the contents of the subaccount, which stop working. */
async function contentsOf({ id }: Account, { restricted, signal }: QuestionRun) {
  const inside = { request: { params: { account_id: id }, query: {} }, restricted, signal }
  const [agents, numbers, calls, subaccounts] = await Promise.all([
    countOf(inside, routes.agents.list),
    countOf(inside, routes.phoneNumbers.list),
    runningCalls(inside),
    countOf(inside, routes.accounts.listSubaccounts, { is_active: true }),
  ])
  return {
    Agents: countInWords(agents),
    Numbers: countInWords(numbers),
    'Calls running now': countInWords(calls),
    'Active subaccounts': countInWords(subaccounts),
  }
}
