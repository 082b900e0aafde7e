import type { Client } from '../../api/client.ts'
import { ApiError } from '../../api/failure.ts'
import type { RouteRequest } from '../../contract/route.ts'
import type { AccountInTree } from '../../session/account-tree.ts'
import { itemId, type ListItem, type ListReply, type ListRoute } from '../../views/list.ts'

/** What the branches of one list have in common. */
export interface BranchReading {
  readonly route: ListRoute
  /** The filters, without `limit` and `offset`. */
  readonly filters: RouteRequest['query']
  readonly client: Client
  readonly signal: AbortSignal | undefined
  /** How many items of a branch are read at a time. */
  readonly perPage: number
}

/** The list of one account, read page by page as its items are taken. */
export class AccountBranch {
  readonly account: AccountInTree
  /** Why it could not be read (further). */
  error: ApiError | undefined
  /** At least one page was read. */
  hasRead = false
  /** The platform ignored `offset` and gave items again: there are more that it does not give. */
  isCut = false
  readonly #reading: BranchReading
  readonly #seen = new Set<string>()
  #items: ListItem[] = []
  #taken = 0
  #count: number | undefined
  /** Where the next page begins; `undefined`: there is none. */
  #next: number | undefined = 0

  constructor(account: AccountInTree, reading: BranchReading) {
    this.account = account
    this.#reading = reading
  }

  /** The next item, where one was read and not taken. */
  get head(): ListItem | undefined {
    return this.#items[this.#taken]
  }

  /** A page has to be read before it is known what comes next. */
  get needsPage(): boolean {
    return this.head === undefined && this.#next !== undefined
  }

  /** How many match; `undefined`: it is not known. */
  get total(): number | undefined {
    if (this.error) return undefined
    return this.#next === undefined && !this.isCut ? this.#seen.size : this.#count
  }

  take(): ListItem | undefined {
    const item = this.head
    if (item) this.#taken++
    return item
  }

  /** Reads the next page. A failure ends the branch: what was read before it stays. */
  async readPage(): Promise<void> {
    const { route, filters, client, signal, perPage } = this.#reading
    const offset = this.#next ?? 0
    const query = { ...filters, limit: perPage, offset }
    try {
      const request = { params: { account_id: this.account.id }, query }
      // The client parses replies with the route's own schema, which is that of a page.
      this.#add((await client.call(route, request, signal)) as ListReply, offset)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.error = error
      this.#next = undefined
    }
  }

  #add({ items, count }: ListReply, offset: number): void {
    const before = this.#seen.size
    this.hasRead = true
    // What was added since the page before moves items to this page that were on that one.
    this.#items = items.filter((item) => {
      const isNew = !this.#seen.has(itemId(item))
      this.#seen.add(itemId(item))
      return isNew
    })
    this.#taken = 0
    this.#count = count
    const end = offset + items.length
    const isOver = count === undefined ? items.length < this.#reading.perPage : end >= count
    this.isCut = !isOver && this.#seen.size === before
    this.#next = isOver || this.isCut ? undefined : end
  }
}
