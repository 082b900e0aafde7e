import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { tools } from '../../tools/index.ts'
import { connectHttp, connectStdio } from '../harness/client.ts'
import { type Program, startHttpProgram } from '../harness/program.ts'

/*
 * Rules about input schemas, from observed rejections and changes by model providers' converters.
 * They apply to every tool in every listing.
 */

const Tool = z.looseObject({
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()),
})
type Tool = z.output<typeof Tool>
type Node = Record<string, unknown>

/** Objects with arbitrary data of the caller. */
const free = ['metadata', 'overrides', 'test_variables']

/**
 * Objects whose fields create_agent describes: elsewhere they are open, and their descriptions name
 * the fields.
 */
const describedElsewhere = /: (update_agent\.\w+|copy_agent\.changes)$/

let program: Program & { url: string }
const listings = new Map<string, Tool[]>()
beforeAll(async () => {
  program = await startHttpProgram()
  const connections = {
    'stdio, 2026-07-28': () => connectStdio('v2 2026-07-28'),
    'stdio, an account pinned': () => connectStdio('v2 2025', { args: ['--account', 'me'] }),
    'stdio, read only': () => connectStdio('v1', { args: ['--read-only'] }),
    'stdio, some toolsets': () => connectStdio('v1', { args: ['--toolsets', 'agents,calls'] }),
    'HTTP, 2026-07-28': () => connectHttp('v2 2026-07-28', program.url),
    'HTTP, 2025': () => connectHttp('v1', program.url),
  }
  for (const [name, connect] of Object.entries(connections)) {
    await using client = await connect()
    listings.set(name, z.array(Tool).parse(await client.listTools()))
  }
})
afterAll(() => program[Symbol.asyncDispose]())

/** A schema and all schemas within it, with their paths. */
function nodesOf(schema: unknown, path: string): [path: string, node: Node][] {
  if (Array.isArray(schema)) return schema.flatMap((one, at) => nodesOf(one, `${path}[${at}]`))
  if (typeof schema !== 'object' || schema === null) return []
  const { properties, default: _, enum: __, required: ___, ...rest } = schema as Node
  return [
    [path, schema as Node],
    ...Object.entries({ ...(properties as object) }).flatMap(([name, field]) =>
      nodesOf(field, `${path}.${name}`),
    ),
    ...Object.entries(rest).flatMap(([word, inner]) => nodesOf(inner, `${path}/${word}`)),
  ]
}

/** Paths of schemas that break a rule, in all listings. */
function breaking(rule: (node: Node, path: string) => boolean): string[] {
  const found = [...listings].flatMap(([listing, listed]) =>
    listed.flatMap(({ name, inputSchema }) =>
      nodesOf(inputSchema, `${listing}: ${name}`)
        .filter(([path, node]) => !rule(node, path))
        .map(([path]) => path),
    ),
  )
  return [...new Set(found)]
}

const each = (rule: (tool: Tool) => boolean): string[] =>
  [...listings].flatMap(([listing, listed]) =>
    listed.filter((tool) => !rule(tool)).map(({ name }) => `${listing}: ${name}`),
  )

const words = (node: Node) => Object.keys(node)

describe('an input schema', () => {
  test('is tested in every form in which tools are listed', () => {
    const reading = tools.filter(({ effect }) => effect === 'reads').length
    const counts = [...listings.values()].map((listed) => listed.length)
    expect(counts).toEqual([34, 34, reading, 12, 34, 34])
  })

  test('is an object with properties at its root', () => {
    expect(
      each(
        ({ inputSchema }) =>
          inputSchema.type === 'object' &&
          z.record(z.string(), z.unknown()).safeParse(inputSchema.properties).success,
      ),
    ).toEqual([])
  })

  test('has no anyOf, oneOf or reference', () => {
    const refused = ['anyOf', 'oneOf', 'allOf', 'not', '$ref', '$defs', '$schema']
    expect(breaking((node) => !words(node).some((word) => refused.includes(word)))).toEqual([])
  })

  test('has one type everywhere, never a list of types and never null', () => {
    const types = ['object', 'array', 'string', 'number', 'integer', 'boolean']
    expect(breaking(({ type }) => types.includes(String(type)) && !Array.isArray(type))).toEqual([])
  })

  test('has items for every array', () => {
    expect(
      breaking(
        ({ type, items }) =>
          type !== 'array' || z.record(z.string(), z.unknown()).safeParse(items).success,
      ),
    ).toEqual([])
  })

  test('has names of letters, digits, _ and -, 64 at most', () => {
    const isName = (name: string) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)
    expect(each(({ name }) => isName(name))).toEqual([])
    expect(
      breaking(({ properties }) => Object.keys({ ...(properties as object) }).every(isName)),
    ).toEqual([])
  })

  test('has descriptions under 1,024 characters, and so has its tool', () => {
    expect(each(({ description }) => description.length < 1024)).toEqual([])
    expect(
      breaking(
        ({ description = '' }) => typeof description === 'string' && description.length < 1024,
      ),
    ).toEqual([])
  })

  test('has enums of strings only', () => {
    expect(
      breaking(
        (node) => !('enum' in node) || z.array(z.string()).min(1).safeParse(node.enum).success,
      ),
    ).toEqual([])
  })

  test('has only formats that all clients know', () => {
    const formats = ['date-time', 'date', 'uri', 'uuid']
    expect(
      breaking(({ format }) => format === undefined || formats.includes(String(format))),
    ).toEqual([])
  })

  test('lists the properties of known objects; free-form objects are explicitly open', () => {
    const isFree = (path: string) => free.some((name) => path.endsWith(`.${name}`))
    expect(
      breaking(({ type, properties, additionalProperties, description }, path) => {
        if (type !== 'object') return true
        if (isFree(path)) return properties === undefined && additionalProperties === true
        if (describedElsewhere.test(path)) return additionalProperties === true && !!description
        // Only the input of a tool itself may be empty, as for get_current_account.
        return Object.keys({ ...(properties as object) }).length > 0 || /^[^.]*: \w+$/.test(path)
      }),
    ).toEqual([])
  })

  test('has the bounds and defaults of each argument, 0, 1 and empty ones too', () => {
    const bounds = ['minimum', 'maximum', 'default']
    const missing = tools.flatMap(({ name, inputSchema, listed }) => {
      const whole = new Map(nodesOf(inputSchema(), name))
      return nodesOf(listed('any').inputSchema, name).flatMap(([path, node]) =>
        // update_agent lists only types, because create_agent describes the same fields.
        name === 'update_agent'
          ? []
          : bounds
              .filter((word) => node[word] !== whole.get(path)?.[word])
              .map((word) => `${path}: ${word}`),
      )
    })
    expect(missing).toEqual([])
    const [create, list] = ['create_agent', 'list_agents'].map(
      (name) => tools.find((tool) => tool.name === name)?.listed('any').inputSchema.properties,
    )
    expect(create).toMatchObject({
      initial_message: {
        properties: { message: { default: '' }, delay_ms: { minimum: 0, default: 0 } },
      },
      inactivity_settings: { properties: { reminder_max_count: { minimum: 0 } } },
    })
    expect(list).toMatchObject({ limit: { minimum: 1 }, offset: { minimum: 0, default: 0 } })
  })

  test('has no keywords that providers reject, except documented ones', () => {
    // Keywords that strict function calling accepts at every provider.
    const accepted = ['type', 'properties', 'required', 'items', 'enum', 'description', 'format']
    const rejected = new Set(
      [...listings.values()]
        .flat()
        .flatMap(({ name, inputSchema }) => nodesOf(inputSchema, name))
        .flatMap(([, node]) => words(node))
        .filter((word) => ![...accepted, 'minimum', 'maximum'].includes(word)),
    )
    expect([...rejected].sort()).toEqual(['additionalProperties', 'default', 'maxLength'])
    const document = readFileSync('docs/clients.md', 'utf8')
    expect(document).toMatch(/Strict function calling.*Strip `default` and `maxLength`/s)
    expect(document).toMatch(/Gemini API rejects `additionalProperties`/)
  })

  test('is refused by strict function calling only for tools with free-form data', () => {
    const open = [...new Set(breaking(({ additionalProperties }) => additionalProperties !== true))]
    const names = open.map((path) => path.replace(/^.*?: (\w+).*$/, '$1'))
    const freeData = [
      'check_call_readiness',
      'copy_agent',
      'create_agent',
      'place_call',
      'place_calls',
      'update_agent',
      'validate_agent_template',
    ]
    expect([...new Set(names)].sort()).toEqual(freeData)
    const documented = /--exclude-tools\s+([\w,]+)/.exec(
      readFileSync('docs/clients.md', 'utf8'),
    )?.[1]
    expect(documented?.split(',').sort()).toEqual([...freeData, 'get_current_account'].sort())
  })
})

test('an output schema is valid JSON Schema with an object at its root, in every listing', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  for (const { name, outputSchema } of [...listings.values()].flat()) {
    expect(outputSchema.type, name).toBe('object')
    expect(ajv.validateSchema(outputSchema), `${name}: ${ajv.errorsText()}`).toBe(true)
    expect(() => ajv.compile(outputSchema)).not.toThrow()
  }
})
