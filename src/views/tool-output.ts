/** The data of a tool result, as a program reads it: it always matches the tool's output schema. */
export type StructuredContent = Record<string, unknown>

/**
 * What a tool shows: data, and where its text is more than the data as JSON, the lines of it.
 * Text from outside may stand in a line as it is: each line is escaped before it is shown.
 */
export interface ToolOutput {
  readonly structured: StructuredContent
  readonly lines?: readonly string[]
}

/** The same, where the text is always lines. */
export type OutputWithLines = Required<ToolOutput>
