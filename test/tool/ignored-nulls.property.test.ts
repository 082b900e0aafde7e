import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseArguments } from '../../src/tool/arguments.ts'
import { tools } from '../../tools/index.ts'
import { declaredNotGiven, withNull } from '../harness/null-arguments.ts'
import { tries } from '../harness/property.ts'
import { validArguments } from '../harness/valid-arguments.ts'

test('there are valid arguments for every tool', () => {
  expect(Object.keys(validArguments).sort()).toEqual(tools.map(({ name }) => name).sort())
  for (const tool of tools) {
    expect(parseArguments(tool, validArguments[tool.name] ?? {}), tool.name).toHaveProperty(
      'ok',
      true,
    )
  }
})

/** Arbitrary tool with valid arguments, and paths of declared fields that they leave out. */
const anyNulls = fc.constantFrom(...tools).chain((tool) => {
  const given = validArguments[tool.name] ?? {}
  return fc.record({
    tool: fc.constant(tool),
    given: fc.constant(given),
    paths: fc.shuffledSubarray(declaredNotGiven(given, tool.inputSchema())),
  })
})

test('null for an omitted declared field changes nothing in the request', () => {
  fc.assert(
    fc.property(anyNulls, ({ tool, given, paths }) => {
      const filled = Object(paths.reduce<unknown>(withNull, given))
      const { ignoredNulls: _, ...plain } = { ignoredNulls: [], ...parseArguments(tool, given) }
      const { ignoredNulls: __, ...same } = { ignoredNulls: [], ...parseArguments(tool, filled) }
      expect(same).toEqual(plain)
    }),
    tries(1500),
  )
})

test('exactly the fields named in clear are sent as null by an update', () => {
  const updates = tools.filter(({ clearable, route }) => clearable.length > 0 && route.body)
  const anyClearing = fc.constantFrom(...updates).chain((tool) =>
    fc.record({
      tool: fc.constant(tool),
      clear: fc.subarray([...tool.clearable], { minLength: 1 }),
    }),
  )
  fc.assert(
    fc.property(anyClearing, ({ tool, clear }) => {
      const ids = Object.fromEntries(Object.keys(tool.route.params.shape).map((id) => [id, 'x']))
      const required = tool.name === 'create_agent' ? { ...validArguments.create_agent } : {}
      const parsed = parseArguments(tool, { ...required, ...ids, clear })
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
      expect(tool.route.body?.safeParse(parsed.request.body).success).toBe(true)
      const nulls = declaredNulls(parsed.request.body)
      const outermost = clear.filter((one) => !clear.some((other) => one.startsWith(`${other}.`)))
      expect(nulls.sort()).toEqual(outermost.sort())
    }),
    tries(500),
  )
})

/** Paths of nulls in dot notation, without the nulls in free-form data. */
function declaredNulls(value: unknown, path = ''): string[] {
  if (value === null) return /^metadata\.kept$|brand_new/.test(path) ? [] : [path]
  if (typeof value !== 'object' || Array.isArray(value)) return []
  return Object.entries(Object(value)).flatMap(([name, field]) =>
    declaredNulls(field, path ? `${path}.${name}` : name),
  )
}
