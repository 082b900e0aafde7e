import { expect } from 'vitest'
import { parseArguments } from '../../src/tool/arguments.ts'
import { tools } from '../../tools/index.ts'

/** Parses the arguments of a tool. */
export function parse(name: string, args: Record<string, unknown>) {
  const tool = tools.find((candidate) => candidate.name === name)
  if (!tool) throw new Error(`No tool ${name}`)
  return parseArguments(tool, args)
}

/** Parses the arguments of a tool. Throws if they are refused. */
export function accepted(name: string, args: Record<string, unknown>) {
  const parsed = parse(name, args)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  return parsed
}

/** The problems of refused arguments; empty if all are accepted. */
export function problems(name: string, args: Record<string, unknown>) {
  const parsed = parse(name, args)
  return parsed.ok ? [] : parsed.problems
}

/** Matcher of a problem with this argument, whose message contains `text`. */
export const problem = (argument: string, text: string) => ({
  argument,
  message: expect.stringContaining(text),
})
