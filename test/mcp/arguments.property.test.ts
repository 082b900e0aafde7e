import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseArguments } from '../../src/mcp/arguments.ts'
import { tools } from '../../tools/index.ts'

/** Arguments as a confused client may send them: real names with any JSON under them. */
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

test('whatever is sent, arguments are either problems or a request of the route', () => {
  fc.assert(
    fc.property(anyArguments, ({ tool, args }) => {
      const parsed = parseArguments(tool, args)
      if (!parsed.ok) {
        expect(parsed.problems.length).toBeGreaterThan(0)
        return
      }
      const { params, query, body } = parsed.request
      expect(tool.route.params.safeParse(params).success || !tool.route.path.includes('{')).toBe(
        true,
      )
      expect(tool.route.query.safeParse(query).success).toBe(true)
      expect(tool.route.body?.safeParse(body).success ?? body === undefined).toBe(true)
    }),
    { numRuns: 2000 },
  )
})
