import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allRoutes } from '../../src/contract/routes.ts'
import { normaliseArguments, parseArguments } from '../../src/tool/arguments.ts'
import { replyNames } from '../../src/tool/coercion.ts'
import type { Tool } from '../../src/tool/tool.ts'
import { tools } from '../../tools/index.ts'
import { tries } from '../harness/property.ts'
import { valuesOf } from '../harness/schema-values.ts'
import { validArguments } from '../harness/valid-arguments.ts'

type Schema = Record<string, unknown>
const asObject = (value: unknown): Schema => ({ ...Object(value) })

/** Arbitrary arguments that nearly always match a tool's schema. */
const anyArguments = fc.constantFrom(...tools).chain((tool) =>
  fc.record({
    tool: fc.constant(tool),
    args: valuesOf({ ...tool.inputSchema() }).map(asObject),
  }),
)

test('arguments that match the schema are never coerced', () => {
  let taken = 0
  fc.assert(
    fc.property(anyArguments, ({ tool, args }) => {
      const { value, problems } = normaliseArguments(args, tool.inputSchema())
      const strict = tool.input.safeParse(value)
      const parsed = parseArguments(tool, args)
      if (!strict.success || problems.length > 0 || !parsed.ok) return
      taken += 1
      expect(parsed.coercions).toEqual([])
      const { params, query, body } = parsed.request
      const sent = { ...tool.defaults, ...params, ...query, ...body, ...parsed.options }
      const cleared = Object.fromEntries(
        parsed.cleared.map((path) => [path.split('.', 1)[0], null]),
      )
      for (const [name, one] of Object.entries(strict.data))
        if (name in sent && !(name in cleared)) expect(sent[name as keyof typeof sent]).toEqual(one)
    }),
    tries(1500),
  )
  expect(taken).toBeGreaterThan(200)
})

/** The value with the deviations of models that coercion accepts. Free-form data is unchanged. */
function loosely(value: unknown, schema: Schema, choose: () => boolean): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => loosely(item, asObject(schema.items), choose))
    const [only] = items
    const isText = typeof only === 'string' && /^[^,[{(]+$/.test(only) && only.trim() === only
    const isListable = isText || (typeof only === 'object' && only !== null)
    return items.length === 1 && isListable && choose() ? only : items
  }
  if (typeof value === 'object' && value !== null) {
    const properties = asObject(schema.properties)
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [
        name,
        Object.hasOwn(properties, name)
          ? loosely(field, asObject(properties[name]), choose)
          : field,
      ]),
    )
  }
  if (!choose()) return value
  if (typeof value === 'boolean') return value ? 'True' : 'false'
  if (typeof value === 'number') return String(value)
  return Array.isArray(schema.enum) ? String(value).toUpperCase() : value
}

test('loosely written arguments are coerced, and each coercion is reported', () => {
  let changed = 0
  const anyChoices = fc.record({
    tool: fc.constantFrom(...tools),
    choices: fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }),
  })
  fc.assert(
    fc.property(anyChoices, ({ tool, choices }) => {
      const args = validArguments[tool.name] ?? {}
      let at = 0
      const choose = () => choices[at++ % choices.length] ?? false
      const loose = asObject(loosely(args, { ...tool.inputSchema() }, choose))
      const { coercions: _, ...meant } = accepted(tool, args)
      const { coercions, ...same } = accepted(tool, loose)
      expect(same).toEqual(meant)
      const isChanged = JSON.stringify(loose) !== JSON.stringify(args)
      expect(coercions.length > 0).toBe(isChanged)
      if (isChanged) changed += 1
    }),
    tries(1500),
  )
  expect(changed).toBeGreaterThan(200)
})

function accepted(tool: Tool, args: Schema) {
  const parsed = parseArguments(tool, args)
  if (!parsed.ok) throw new Error(JSON.stringify({ args, problems: parsed.problems }))
  return parsed
}

test('free-form data is sent unchanged, whatever else is coerced', () => {
  const texts = fc.constantFrom('3', 'true', 'a,b', '', '[1]', '{"a":"3"}')
  const anyData = fc.object({
    key: fc.constantFrom('id', 'name', 'tags', 'limit', 'x'),
    values: [texts, fc.string(), fc.integer(), fc.boolean(), fc.constant(null)],
  })
  const update = tools.find(({ name }) => name === 'update_agent')
  const place = tools.find(({ name }) => name === 'place_call')
  if (!update || !place) throw new Error('No such tool')
  fc.assert(
    fc.property(anyData, (data) => {
      const metadata = JSON.parse(JSON.stringify(data))
      const updated = accepted(update, { agent_id: 'a', metadata, allow_auto_hangup: 'true' })
      expect(updated.request.body?.metadata).toEqual(metadata)
      const free = { test_variables: metadata, overrides: metadata }
      const call = accepted(place, { type: 'Web', agent_id: 'a', ...free })
      expect(call.request.body).toEqual({ type: 'web', agent_id: 'a', ...free })
    }),
    tries(300),
  )
})

test("each mapped reply name stands for an argument of the route's tools", () => {
  for (const [id, names] of Object.entries(replyNames)) {
    const route = allRoutes.find((one) => one.id === id)
    const own = tools.filter((tool) => tool.route === route)
    expect(own.length, id).toBeGreaterThan(0)
    for (const [reply, request] of Object.entries(names)) {
      const [name = '', ...inner] = request.split('.')
      const holders = own.filter(({ input }) => Object.hasOwn(input.shape, name))
      expect(holders.length, `${id} ${request}`).toBeGreaterThan(0)
      expect(reply.split('.').slice(0, -1), reply).toEqual(request.split('.').slice(0, -1))
      if (inner.length === 0) {
        const taken = holders.filter(({ input }) => Object.hasOwn(input.shape, reply))
        expect(
          taken.map(({ name: tool }) => tool),
          `${id} ${reply}`,
        ).toEqual([])
      }
    }
  }
})
