import { expect, test } from 'vitest'
import { readToolArguments } from '../../../src/cli/terminal/tool-arguments.ts'
import { exampleWords, firstSentence, toolHelp } from '../../../src/cli/terminal/tool-help.ts'
import { parseArguments } from '../../../src/tool/arguments.ts'
import { tools } from '../../../tools/index.ts'

const unread = { readFile: async () => '', readInput: async () => '' }

const help = (name: string, width: number | undefined, account?: string) => {
  const tool = tools.find((one) => one.name === name)
  if (!tool) throw new Error(`No tool ${name}`)
  return toolHelp(tool, { width, account })
}

test.each(tools.map((tool) => [tool.name, tool] as const))(
  'the example of %s can be called',
  async (name, tool) => {
    const [first, ...words] = exampleWords(tool)
    expect(first).toBe(name)
    const given = await readToolArguments(words, tool, unread)
    expect(parseArguments(tool, given.arguments)).toMatchObject({ ok: true })
    if (name.startsWith('update_')) expect(words.join(' ')).toMatch(/^--\w+(-\w+)*-id /)
  },
)

test('the help names every argument once, with bounds, defaults and values', () => {
  const text = help('create_agent', undefined)
  expect(text).toMatch(/^ {2}--max-duration-seconds NUMBER {7}\S.* 10 to 43200\. Default 1200\.$/m)
  expect(text).toMatch(/--initial-message\.mode fixed_message\|user_first\|dynamic_message\n/)
  expect(text).toMatch(/--model\.provider TEXT +Required\./)
  expect(text).toMatch(/--no-denoising\.web +\S.* Default true\.$/m)
  expect(text).toMatch(/--metadata JSON +\S.* \.NAME TEXT\.$/m)
  expect(text.match(/^ {2}--model\.model /gm)).toHaveLength(1)
})

test('the help is broken at the width of the terminal, except values and examples to copy', () => {
  const lines = help('create_agent', 80).split('\n')
  const long = lines.filter((line) => line.length > 80)
  expect(long.every((line) => /^ {2}(--\S+ \S+\|\S+|voice-agent-mcp call .*)$/.test(line))).toBe(
    true,
  )
})

test('with a pinned account there is no argument that chooses one', () => {
  expect(help('list_agents', undefined)).toContain('--account-id')
  expect(help('list_agents', undefined, 'acc')).not.toMatch(/--account-id|--include-subaccounts/)
})

test('a list shows the first sentence of a description', () => {
  expect(firstSentence('Reads 1.5 items. Use it first.')).toBe('Reads 1.5 items')
  expect(firstSentence('Reads one item.')).toBe('Reads one item')
})
