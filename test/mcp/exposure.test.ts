import { describe, expect, test } from 'vitest'
import { allRoutes } from '../../src/contract/routes.ts'
import {
  ExposureError,
  type ExposureSettings,
  everyTool,
  narrowExposure,
  toolsetsOf,
} from '../../src/mcp/exposure.ts'
import { createRequestExposure } from '../../src/mcp/request-exposure.ts'
import { instructionsFor } from '../../src/mcp/server-info.ts'
import { tools } from '../../tools/index.ts'

const names = { toolsets: 'SETS', tools: 'TOOLS', excludeTools: 'EXCLUDED', readOnly: 'READ' }
const source = { who: "this server's setting", names }
const everything = everyTool(tools)
const every = tools.map(({ name }) => name)

const exposed = (wanted: ExposureSettings) => narrowExposure(everything, wanted, source)
const namesOf = (wanted: ExposureSettings) => exposed(wanted).tools.map(({ name }) => name)

describe('the exposed tools', () => {
  test('are all tools when nothing or blanks are given', () => {
    expect(namesOf({})).toEqual(every)
    expect(namesOf({ toolsets: '', tools: ' ', excludeTools: '', readOnly: '' })).toEqual(every)
  })

  test.each([
    [{ toolsets: 'usage' }, ['get_usage']],
    [{ toolsets: 'usage, templates,' }, ['validate_agent_template', 'get_usage']],
    [{ tools: 'get_usage,list_agents' }, ['list_agents', 'get_usage']],
    [{ toolsets: 'usage', tools: 'list_agents' }, ['list_agents', 'get_usage']],
    [{ toolsets: 'usage,templates', excludeTools: 'get_usage' }, ['validate_agent_template']],
    [{ tools: 'place_call,get_call', excludeTools: 'place_call' }, ['get_call']],
    [{ toolsets: 'sip_trunks', readOnly: 'true' }, ['list_sip_trunks', 'get_sip_trunk']],
    [{ toolsets: 'usage', tools: 'create_agent', readOnly: '1' }, ['get_usage']],
    [{ toolsets: 'usage', readOnly: 'FALSE' }, ['get_usage']],
  ])('with %j are %j, in the usual order', (wanted, expected) => {
    expect(namesOf(wanted)).toEqual(expected)
  })

  test('a toolset is the first part of operation ids, and each has tools', () => {
    for (const toolset of toolsetsOf(allRoutes)) {
      const found = exposed({ toolsets: toolset }).tools
      expect(found.map(({ route }) => route.id)).toContainEqual(
        expect.stringMatching(`^${toolset}\\.`),
      )
    }
  })

  test('accounts include subaccounts, and subaccounts can be named alone', () => {
    const all = namesOf({ toolsets: 'accounts' })
    expect(all).toContain('get_current_account')
    expect(all).toContain('update_subaccount')
    const below = namesOf({ toolsets: 'subaccounts' })
    expect(below).toEqual(all.filter((name) => name !== 'get_current_account'))
  })

  test.each(['phone_numbers', 'phone-numbers', 'phoneNumbers', 'PHONE_NUMBERS'])(
    '%s is one toolset',
    (toolsets) => {
      expect(namesOf({ toolsets })).toEqual(namesOf({ toolsets: 'phone_numbers' }))
    },
  )

  test('read-only tools are those whose effect is reading', () => {
    const read = tools.filter(({ effect }) => effect === 'reads').map(({ name }) => name)
    expect(namesOf({ readOnly: 'true' })).toEqual(read)
    expect(read).not.toContain('place_call')
    expect(read).toContain('list_calls')
  })

  test.each([
    [{ toolsets: 'call' }, /^SETS\b.* call\. .* calls\? .* accounts, /],
    [{ tools: 'get_calls,nothing' }, /^TOOLS\b.* get_calls\. .* get_call\?/],
    [{ excludeTools: 'place_cal' }, /^EXCLUDED\b.* place_cal\. .* place_call\?/],
    [{ toolsets: 'zzzzzz' }, /^SETS\b.* zzzzzz\. [^?]* accounts, /],
    [{ toolsets: 'x'.repeat(9999) }, /^SETS\b.* x{64}\. /],
    [{ toolsets: ',' }, /^SETS\b.* accounts, /],
    [{ readOnly: 'maybe' }, /^READ\b.* maybe\.$/],
    [{ readOnly: 'true,maybe' }, /^READ\b/],
    [{ toolsets: 'usage', excludeTools: 'get_usage' }, / SETS\b.* EXCLUDED\.$/],
    [{ tools: 'place_call', readOnly: 'true' }, / READ\.$/],
  ])('%j is refused', (wanted, message) => {
    expect(() => exposed(wanted)).toThrow(ExposureError)
    expect(() => exposed(wanted)).toThrow(message)
  })

  test('a hidden tool names the setting that hides it', () => {
    const { hidden } = exposed({
      toolsets: 'agents',
      tools: 'get_usage',
      excludeTools: 'archive_agent',
      readOnly: 'true',
    })
    expect(hidden.get('place_call')).toBe(`${source.who} SETS and TOOLS`)
    expect(hidden.get('archive_agent')).toBe(`${source.who} EXCLUDED`)
    expect(hidden.get('create_agent')).toBe(`${source.who} READ`)
    expect(hidden.has('get_usage')).toBe(false)
  })
})

describe('the headers of a request', () => {
  const operators = exposed({ toolsets: 'agents,usage', readOnly: 'true' })
  const exposureFor = createRequestExposure(operators)
  const by = (headers: Record<string, string>) =>
    exposureFor((name) => new Headers(headers).get(name) ?? undefined)
  const shown = (headers: Record<string, string>) => {
    const selected = by(headers)
    return selected.ok ? selected.exposure.tools.map(({ name }) => name) : selected.message
  }
  const own = ['list_agents', 'get_agent', 'get_usage']

  test('without them everything that the operator exposes is exposed', () => {
    expect(by({ 'x-api-key': 'k' })).toEqual({ ok: true, exposure: operators })
    expect(shown({})).toEqual(own)
  })

  test.each([
    [{ 'X-MCP-Toolsets': 'agents' }, ['list_agents', 'get_agent']],
    [{ 'X-MCP-Toolsets': 'agents,calls' }, ['list_agents', 'get_agent']],
    [{ 'X-MCP-Tools': 'get_usage,create_agent' }, ['get_usage']],
    [{ 'X-MCP-Exclude-Tools': 'get_usage' }, ['list_agents', 'get_agent']],
    [{ 'X-MCP-Read-Only': 'false' }, own],
    [{ 'X-MCP-Toolsets': '' }, own],
  ])('%j only restrict it', (headers, expected) => {
    expect(shown(headers as Record<string, string>)).toEqual(expected)
  })

  test.each([
    [{ 'X-MCP-Toolsets': 'agent' }, /^X-MCP-Toolsets\b.* agent\. .* agents\?/],
    [{ 'X-MCP-Tools': 'create_agent' }, / SETS, .* READ, .* X-MCP-Tools\.$/],
    [{ 'X-MCP-Read-Only': 'on' }, /^X-MCP-Read-Only\b.* on\.$/],
  ])('%j is refused', (headers, message) => {
    expect(shown(headers as Record<string, string>)).toMatch(message)
  })

  test('the read-only header has two spellings, and one that is on is enough', () => {
    const every = createRequestExposure(everything)
    for (const headers of [
      { 'X-MCP-Readonly': 'true' },
      { 'X-MCP-Read-Only': '1' },
      { 'X-MCP-Read-Only': 'false', 'X-MCP-Readonly': 'true' },
      { 'X-MCP-Read-Only': 'false, true' },
    ]) {
      const selected = every((name) => new Headers(headers).get(name) ?? undefined)
      expect(selected.ok && selected.exposure.hidden.has('create_agent')).toBe(true)
    }
  })

  test('the same headers are evaluated once', () => {
    const headers = { 'X-MCP-Toolsets': 'agents' }
    expect(by({ ...headers, other: '1' })).toBe(by({ ...headers, other: '2' }))
  })
})

describe('instructions', () => {
  const textFor = (wanted: ExposureSettings, account?: string) =>
    instructionsFor({ isSandbox: false, account, confirm: 'auto', exposure: exposed(wanted) })
  const known = new Set(every)
  const toolsIn = (text: string) =>
    [...text.matchAll(/[a-z]+(_[a-z]+)+/g)].map(([word]) => word).filter((word) => known.has(word))

  test('name only tools that are exposed', () => {
    expect(toolsIn(textFor({}))).toContain('place_call')
    const settings: ExposureSettings[] = [{ readOnly: 'true' }, { excludeTools: 'list_calls' }]
    for (const toolsets of toolsetsOf(allRoutes)) settings.push({ toolsets })
    for (const wanted of settings) {
      const shown = new Set(namesOf(wanted))
      for (const name of toolsIn(textFor(wanted))) expect(shown).toContain(name)
    }
  })

  test.each([
    ['all tools', {}, undefined],
    ['tools that only read', { readOnly: 'true' }, undefined],
    ['one tool that reads', { toolsets: 'usage' }, undefined],
    ['a tool that places calls', { tools: 'place_call' }, undefined],
    ['a pinned account', {}, 'a1'],
    ["the key's own account", {}, 'me'],
  ] as const)('for %s', (_, wanted, account) => {
    expect(textFor(wanted, account)).toMatchSnapshot()
  })

  test('name the pinned account, but not account_id or subaccounts', () => {
    const text = textFor({}, 'a1')
    expect(text).toMatch(/\ba1\b/)
    expect(text).not.toMatch(/account_id|subaccount/)
    expect(textFor({})).toMatch(/account_id.*subaccount/)
  })
})
