import { expect } from 'vitest'
import { parseArguments } from '../../src/tool/arguments.ts'
import { tools } from '../../tools/index.ts'

/** The arguments of a tool, parsed. */
export function parse(name: string, args: Record<string, unknown>) {
  const tool = tools.find((candidate) => candidate.name === name)
  if (!tool) throw new Error(`No tool ${name}`)
  return parseArguments(tool, args)
}

/** The same, failing the test where they are refused. */
export function accepted(name: string, args: Record<string, unknown>) {
  const parsed = parse(name, args)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  return parsed
}

/** What is wrong with each refused argument; nothing where all are accepted. */
export function problems(name: string, args: Record<string, unknown>) {
  const parsed = parse(name, args)
  return parsed.ok ? [] : parsed.problems
}

/** A problem of that argument, whose message holds that text. */
export const problem = (argument: string, text: string) => ({
  argument,
  message: expect.stringContaining(text),
})
