import fc from 'fast-check'
import { expect, test } from 'vitest'
import type * as z from 'zod'
import { parseArguments } from '../../src/tool/arguments.ts'
import type { Tool } from '../../src/tool/tool.ts'
import { tools } from '../../tools/index.ts'
import { tries } from '../harness/property.ts'

/** Arbitrary arguments: real names with any JSON as values. */
const anyArguments = fc.constantFrom(...tools).chain((tool) =>
  fc.record({
    tool: fc.constant(tool),
    args: fc.dictionary(
      fc.oneof(fc.constantFrom('account_id', ...Object.keys(tool.input.shape)), fc.string()),
      fc.oneof(
        fc.jsonValue(),
        fc.jsonValue().map((value) => JSON.stringify(value)),
      ),
    ),
  }),
)

/**
 * True for tools whose arguments are the fields of the route's body. Other tools build the body
 * themselves.
 */
const sendsItsBody = ({ route, input }: Tool) =>
  Object.entries(route.body?.shape ?? {}).every(([name, field]) => input.shape[name] === field)

/** Schema of the path parameters; optional for tools that also accept several objects. */
const paramsOf = ({ route: { params }, input }: Tool) =>
  Object.entries(params.shape).every(
    ([name, field]) => name === 'account_id' || input.shape[name] === field,
  )
    ? params
    : params.partial()

/** Schema of the query; optional for tools that add a required parameter themselves. */
const queryOf = ({ route: { query }, input }: Tool) =>
  Object.entries<z.ZodType>(query.shape).every(
    ([name, field]) => field.safeParse(undefined).success || input.shape[name] === field,
  )
    ? query
    : query.partial()

test('any arguments give either problems or a request that the route accepts', () => {
  fc.assert(
    fc.property(anyArguments, ({ tool, args }) => {
      const parsed = parseArguments(tool, args)
      if (!parsed.ok) {
        expect(parsed.problems.length).toBeGreaterThan(0)
        return
      }
      const { params, query, body } = parsed.request
      expect(paramsOf(tool).safeParse(params).success || !tool.route.path.includes('{')).toBe(true)
      expect(queryOf(tool).safeParse(query).success).toBe(true)
      if (!sendsItsBody(tool)) return
      expect(tool.route.body?.safeParse(body).success ?? body === undefined).toBe(true)
    }),
    tries(2000),
  )
})

test('only these tools build the body of their request themselves', () => {
  const others = tools.filter((tool) => !sendsItsBody(tool)).map(({ name }) => name)
  expect(others).toEqual(['copy_agent', 'check_call_readiness', 'place_call', 'place_calls'])
})
