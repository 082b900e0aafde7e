import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPerson, type Person } from '../../harness/answering-client.ts'
import { errorOf } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'

describe('add and remove of update_agent', () => {
  let person: Person
  const make = (name: string, transcriber: object, more: object = {}) =>
    person.value('create_agent', {
      ...newAgent,
      ...{ name, transcriber: { ...newAgent.transcriber, ...transcriber } },
      ...more,
    })
  const lists = async (agent_id: string) => {
    const { tags, transcriber } = await person.value('get_agent', { agent_id })
    const { keywords, languages } = Object(transcriber)
    return { tags, keywords, languages }
  }

  beforeAll(async () => {
    person = await connectPerson('v2 2026-07-28', {})
    await make('One', { keywords: ['Card', 'a'], languages: ['en-gb'] }, { tags: ['x', 'q3'] })
    await make('Two', { keywords: ['b', 'Plus'], languages: ['de-DE', 'es-ES'] }, { tags: ['x'] })
    await make('Three', { languages: [] })
  })
  afterAll(() => person[Symbol.asyncDispose]())

  const edit = {
    where: { tags: ['x'] },
    add: { keywords: ['Plus', 'implant'], languages: ['es-es'], tags: ['new'] },
    remove: { keywords: ['Card'], tags: ['q3'] },
  }

  test('shows what would change, and what stays, and saves nothing with dry_run', async () => {
    const before = [await lists('One'), await lists('Two')]
    const result = await person.call('update_agent', { ...edit, dry_run: true })
    expect(await person.flaws('update_agent', result)).toBeUndefined()
    expect(result.structuredContent).toMatchObject({ summary: { would_change: 2 } })
    const text = result.content[0]?.text ?? ''
    expect(text).toContain('transcriber.keywords: +Plus +implant −Card\n')
    expect(text).toContain('transcriber.keywords: +implant\n')
    expect([await lists('One'), await lists('Two')]).toEqual(before)
  })

  test('changes single entries of each of many agents, and keeps the others', async () => {
    expect((await person.value('update_agent', edit)).summary).toEqual({ updated: 2 })
    expect(await lists('One')).toEqual({
      tags: ['x', 'new'],
      keywords: ['a', 'Plus', 'implant'],
      languages: ['en-gb', 'es-es'],
    })
    // Languages are compared without case, so this one is already in the list.
    expect(await lists('Two')).toEqual({
      tags: ['x', 'new'],
      keywords: ['b', 'Plus', 'implant'],
      languages: ['de-DE', 'es-ES'],
    })
    expect((await person.value('update_agent', edit)).summary).toEqual({ unchanged: 2 })
  })

  test('warns if the language was detected before, or is from now on', async () => {
    const args = { agent_id: 'Three', add: { languages: ['en-gb'] } }
    const { warnings } = await person.value('update_agent', args)
    expect(warnings).toEqual([expect.stringMatching(/^transcriber\.languages: was empty.*en-gb/)])
    const back = { agent_id: 'Three', remove: { languages: ['EN-GB'] } }
    const emptied = await person.value('update_agent', back)
    expect(emptied.warnings).toEqual([expect.stringMatching(/^transcriber\.languages: empty/)])
    expect((await lists('Three')).languages).toEqual([])
  })

  test('names a missing entry, and the closest one', async () => {
    const args = { agent_id: 'Two', remove: { keywords: ['implnt'] } }
    const { warnings, applied } = await person.value('update_agent', args)
    expect(applied).toBe(false)
    expect(warnings).toEqual([expect.stringMatching(/^remove\.keywords: .*implnt.*\bimplant\b/)])
  })

  test('does not replace one language by a list', async () => {
    const transcriber = {
      provider: 'azure',
      model: 'azure-stt',
      language: 'en-GB',
      languages: null,
    }
    await make('Azure', transcriber)
    const args = { agent_id: 'Azure', add: { languages: ['es-ES'] } }
    expect(errorOf(await person.call('update_agent', args)).fields).toEqual([
      { argument: 'add.languages', message: expect.stringContaining('transcriber.language') },
    ])
  })

  test.each<[string, object, string]>([
    [
      'an entry in both',
      { add: { keywords: ['k'] }, remove: { keywords: ['k'] } },
      'remove.keywords',
    ],
    [
      'one language in both',
      { add: { languages: ['de'] }, remove: { languages: ['DE'] } },
      'remove.languages',
    ],
    [
      'the whole list too',
      { add: { keywords: ['k'] }, transcriber: { keywords: [] } },
      'add.keywords',
    ],
    [
      'a list that is cleared',
      { remove: { keywords: ['a'] }, clear: ['transcriber.keywords'] },
      'remove.keywords',
    ],
    ['tags that are replaced', { add: { tags: ['k'] }, tags: ['y'] }, 'add.tags'],
    ['no list', { add: {} }, 'add'],
    ['an unknown list', { add: { voices: ['x'] } }, 'add.voices'],
    ['an empty list', { add: { tags: [] } }, 'add.tags'],
  ])('are refused for %s', async (_, args, argument) => {
    const { fields } = errorOf(await person.call('update_agent', { agent_id: 'One', ...args }))
    expect(fields?.[0]).toMatchObject({ argument })
  })
})
