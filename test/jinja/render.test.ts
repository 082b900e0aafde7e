import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { render, TemplateError } from '../../src/jinja/index.ts'

type Case = { readonly source: string; readonly output: string | null }

const table: { readonly context: Record<string, unknown>; readonly cases: readonly Case[] } =
  JSON.parse(readFileSync(new URL('rendering.json', import.meta.url), 'utf8'))

test.each(table.cases)('renders $source as Jinja2 does', ({ source, output }) => {
  if (output === null) expect(() => render(source, table.context)).toThrow(TemplateError)
  else expect(render(source, table.context)).toBe(output)
})
