import { expect, test } from 'vitest'
import { knownVariables } from '../../src/contract/template.ts'
import { skills } from '../../src/prompts/skills.ts'
import { isObject } from '../../src/text/json.ts'
import { tools } from '../../tools/index.ts'

/** All keys and texts of a schema, at every depth, such as field names and enum values. */
function wordsOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(wordsOf)
  if (!isObject(schema)) return typeof schema === 'string' ? [schema] : []
  return [...Object.keys(schema), ...Object.values(schema).flatMap(wordsOf)]
}

const known = new Set([
  ...tools.flatMap((tool) => [tool.name, ...wordsOf(tool.listed('any'))]),
  ...knownVariables.flatMap((path) => path.split('.')),
])

test.each(skills)('$name names only tools, arguments and values that exist', ({ text }) => {
  const words = text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []
  expect(words.length).toBeGreaterThan(10)
  expect(words.filter((word) => !known.has(word))).toEqual([])
})

test.each(skills)('$name has a description and a length that the format allows', (skill) => {
  expect(skill.description.length).toBeLessThan(1024)
  // The front matter has no quotes, so the description must be valid YAML without them.
  expect(skill.description).not.toMatch(/: | #|^[^A-Z]/)
  expect(skill.text.split('\n').length).toBeLessThan(200)
})
