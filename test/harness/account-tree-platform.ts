import { type FakePlatform, json, type SeenRequest, startFakePlatform } from './fake-platform.ts'

/**
 * An account and its subaccounts. `items`: the agents, numbers, trunks or calls that its lists
 * return.
 */
export interface TreeNode {
  readonly id: string
  readonly name?: string
  readonly is_active?: boolean
  readonly items?: readonly Readonly<Record<string, unknown>>[]
  readonly below?: readonly TreeNode[]
  /**
   * HTTP status with which the account's lists fail, except its list of subaccounts; `hangs`: no
   * reply.
   */
  readonly fails?: number | 'hangs'
}

/** A fake platform with a tree of accounts. All lists of an account return its `items`. */
export async function startTreePlatform(
  root: TreeNode,
): Promise<FakePlatform & { readonly peakConcurrency: () => number }> {
  const nodes = new Map<string, TreeNode>()
  const add = (node: TreeNode) => {
    if (nodes.has(node.id)) return
    nodes.set(node.id, node)
    node.below?.forEach(add)
  }
  add(root)
  let [underWay, max] = [0, 0]
  const platform = await startFakePlatform(
    (request, response) => {
      max = Math.max(max, ++underWay)
      response.on('close', () => underWay--)
      const { status, body } = answerTo(request, nodes)
      // Delayed, so that concurrent requests overlap.
      if (status !== 'hangs') setTimeout(() => json(response, status, body), 2)
    },
    { account: root.id },
  )
  return { ...platform, peakConcurrency: () => max }
}

function answerTo({ url }: SeenRequest, nodes: ReadonlyMap<string, TreeNode>) {
  const { pathname, searchParams } = new URL(url, 'http://x')
  const [, , , id = '', list, one] = pathname.split('/')
  const node = nodes.get(id)
  if (!node) return { status: 404, body: problem('not_found') }
  if (one !== undefined) return { status: 200, body: nodes.get(one) }
  if (list !== 'subaccounts' && node.fails !== undefined) {
    return { status: node.fails, body: problem('no') }
  }
  const all =
    list === 'subaccounts'
      ? (node.below ?? [])
      : (node.items ?? []).filter((item) => isCreatedWithin(item, searchParams))
  const offset = Number(searchParams.get('offset'))
  const items = all.slice(offset, offset + Number(searchParams.get('limit')))
  return { status: 200, body: { count: all.length, items } }
}

/** True within the range of the query, or for an item without a creation time. */
function isCreatedWithin({ created }: Readonly<Record<string, unknown>>, search: URLSearchParams) {
  if (typeof created !== 'string') return true
  const time = (name: string, otherwise: number) =>
    search.has(name) ? Date.parse(search.get(name) ?? '') : otherwise
  const at = Date.parse(created)
  return at >= time('created_after', 0) && at < time('created_before', Number.POSITIVE_INFINITY)
}

const problem = (code: string) => ({ code, message: `it was ${code}`, detail: null, errors: null })
