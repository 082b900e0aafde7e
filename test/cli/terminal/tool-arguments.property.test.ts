import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readToolArguments } from '../../../src/cli/terminal/tool-arguments.ts'
import { argumentWords } from '../../../src/cli/terminal/tool-help.ts'
import type { JsonSchema } from '../../../src/contract/json-schema.ts'
import { tools } from '../../../tools/index.ts'
import { tries } from '../../harness/property.ts'

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '',
    '--json',
    '--args',
    '-5',
    'a,b',
    '[x',
    ' {',
    '"',
    'a=b',
    'x:=1',
    '\n--yes\n',
    'null',
  ),
)

/** Free-form data without the one name that no tool accepts. */
const freeData = fc.dictionary(
  anyText.filter((name) => name !== '__proto__'),
  fc.oneof(anyText, fc.integer(), fc.boolean(), fc.constant(null), fc.array(anyText)),
)

/** Arbitrary values of a schema. */
function valuesOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { type, properties, items } = schema
  if (type === 'boolean') return fc.boolean()
  if (type === 'integer') return fc.integer()
  if (type === 'number')
    return fc.integer({ min: -9999, max: 9999 }).map((thousandths) => thousandths / 1000 || 0)
  if (type === 'array') return fc.array(valuesOf({ ...Object(items) }), { maxLength: 4 })
  if (type !== 'object') return schema.enum ? fc.constantFrom(...schema.enum) : anyText
  if (!properties) return freeData
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    valuesOf({ ...Object(field) }),
  ])
  return fc.record(Object.fromEntries(fields), { requiredKeys: [], noNullPrototype: true })
}

const anyCall = fc.constantFrom(...tools).chain((tool) =>
  valuesOf(tool.inputSchema()).map((args) => ({
    tool,
    args: args as Record<string, unknown>,
  })),
)

const unread = { readFile: async () => '', readInput: async () => '' }

test('all arguments of all tools can be given in words, and arrive as they were meant', async () => {
  await fc.assert(
    fc.asyncProperty(anyCall, async ({ tool, args }) => {
      const words = argumentWords(args, tool.inputSchema())
      const read = await readToolArguments(words, tool, unread)
      expect(read).toEqual({ arguments: args, wantsJson: false, wantsHelp: false })
    }),
    tries(1500),
  )
})

test('any words are read, or refused with a message; never anything else', async () => {
  const word = fc.oneof(
    anyText,
    fc.constantFrom(
      '--model',
      '--model.x',
      '--metadata.a',
      '--tags',
      '--no-x',
      '--limit',
      '--args',
    ),
    anyText.map((text) => `--${text}`),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...tools), fc.array(word), async (tool, words) => {
      await readToolArguments(words, tool, unread).catch((error) =>
        expect(error).toMatchObject({ name: 'ConfigError', message: expect.stringMatching(/\S/) }),
      )
    }),
    tries(1500),
  )
})
