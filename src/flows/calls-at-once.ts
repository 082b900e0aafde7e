import { createHash } from 'node:crypto'
import type { CallReader } from '../calls/calls-under-way.ts'
import type { Run } from '../mcp/tool.ts'
import type { DialRequest, Verdict } from '../policy/verdict.ts'

type OnAccount = Pick<Run, 'request' | 'session' | 'signal'>

/** Who reads the calls that count against the limit of calls at once. */
export function readerOf({ request, session }: OnAccount): CallReader {
  const account = request.params.account_id ?? 'me'
  const { owner: key, client } = session
  const owner = createHash('sha256').update(`${key} ${account}`).digest('base64url')
  return { owner, account, client, key }
}

/** Asks the policy, with a view of the calls that have ended meanwhile. */
export const asked = <V extends { readonly allowed: boolean }>(
  run: OnAccount,
  question: () => Promise<V>,
): Promise<V> => {
  const { underWay } = run.session.dialling
  return underWay ? underWay.ask(readerOf(run), run.signal, question) : question()
}

/** Whether the policy would allow a call now; it is not counted. */
export const allowed = (dialled: DialRequest, run: OnAccount): Promise<Verdict> =>
  asked(run, () => run.session.dialling.policy.check(dialled))
