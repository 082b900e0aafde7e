import { ProtocolError } from '@modelcontextprotocol/server'

/** The offset that a cursor of this server stands for. Throws ProtocolError. */
export function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  if (/^[1-9]\d{0,8}$/.test(cursor)) return Number(cursor)
  throw unknownCursor()
}

export const unknownCursor = () =>
  new ProtocolError(-32602, 'The cursor is not one that this server gave: list again without it.')

/** For lists that are one page: no cursor is ever given. Throws ProtocolError. */
export function refuseCursor(params: { readonly cursor?: string | undefined } | undefined): void {
  if (params?.cursor !== undefined) throw unknownCursor()
}
