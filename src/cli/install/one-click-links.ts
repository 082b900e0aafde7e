import type { PlainValue } from './text-format.ts'

/** A server as a client's file holds it, under its name. */
export interface LinkedServer {
  readonly name: string
  readonly entry: Readonly<Record<string, PlainValue>>
  /** What VS Code asks for and keeps, such as a key; the entry names it as ${input:id}. */
  readonly inputs: readonly Readonly<Record<string, PlainValue>>[]
}

/**
 * The link that opens VS Code with the question whether to install a server
 * (https://code.visualstudio.com/api/extension-guides/ai/mcp).
 */
export function vsCodeLink(
  { name, entry, inputs }: LinkedServer,
  scheme: 'vscode' | 'vscode-insiders',
): string {
  const server = { name, ...(inputs.length > 0 && { inputs }), ...entry }
  return `${scheme}:mcp/install?${encodeURIComponent(JSON.stringify(server))}`
}

/** The same for Cursor (https://cursor.com/docs/mcp/install-links). It has no questions for keys. */
export const cursorLink = ({ name, entry }: LinkedServer): string =>
  `cursor://anysphere.cursor-deeplink/mcp/install?${cursorQuery(name, entry)}`

/** How links for Cursor name a server: its entry is base64. */
export const cursorQuery = (name: string, entry: PlainValue): URLSearchParams =>
  new URLSearchParams({ name, config: Buffer.from(JSON.stringify(entry)).toString('base64') })
