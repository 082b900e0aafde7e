import { INVALID_REQUEST, PARSE_ERROR } from '@modelcontextprotocol/server'
import { boundExceededByText, type JsonBounds } from '../json/bounds.ts'

/** What a message may hold: more than any tool takes, and little enough to be parsed at once. */
const bounds: JsonBounds = { depth: 200, values: 100_000 }

/** A message as data, or why it is not read, as a JSON-RPC error. */
export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: { readonly code: number; readonly message: string } }

/** Reads a message or batch. `what` names its text in the error, such as `A line`. */
export function parseMessage(text: string, what: string): Parsed {
  const excess = boundExceededByText(text, bounds)
  if (excess) return refused(INVALID_REQUEST, `${what} ${tooMuch[excess]}.`)
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return refused(PARSE_ERROR, `${what} is not JSON.`)
  }
}

const tooMuch = {
  depth: `is nested more than ${bounds.depth} deep`,
  values: `holds more than ${bounds.values} values`,
}

const refused = (code: number, message: string): Parsed => ({ ok: false, error: { code, message } })
