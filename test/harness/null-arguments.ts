import * as z from 'zod'
import { newAgent } from './every-tool.ts'

/** The parts of an input schema that declare fields. */
const Schema = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
})

type Path = readonly (string | number)[]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Paths of all declared fields that the arguments leave out, at every depth: in given objects, in
 * items of lists, and in objects that are left out themselves.
 */
export function declaredNotGiven(given: unknown, schema: unknown, path: Path = []): Path[] {
  const { properties = {}, items } = Schema.parse(schema ?? {})
  if (Array.isArray(given)) {
    return given.flatMap((item, at) => declaredNotGiven(item, items, [...path, at]))
  }
  if (given !== undefined && !isObject(given)) return []
  return Object.entries(properties).flatMap(([name, field]) => {
    const here = [...path, name]
    const value = given?.[name]
    return [...(value === undefined ? [here] : []), ...declaredNotGiven(value, field, here)]
  })
}

/** Sets null at a path. Missing parents are created; a parent that is null stays. */
export function withNull(given: unknown, [name, ...rest]: Path): unknown {
  if (name === undefined) return null
  if (given === null) return null
  if (Array.isArray(given))
    return given.map((item, at) => (at === name ? withNull(item, rest) : item))
  const object = isObject(given) ? given : {}
  return { ...object, [name]: withNull(object[name], rest) }
}

/** Valid arguments of every tool, some with nulls in free data. */
export const validArguments: Readonly<Record<string, Record<string, unknown>>> = {
  get_current_account: {},
  list_subaccounts: { limit: 5 },
  create_subaccount: { name: 'Branch' },
  get_subaccount: { subaccount_id: 'x' },
  update_subaccount: { subaccount_id: 'x', is_active: false },
  list_models: { fields: ['*'] },
  list_transcribers: {},
  list_voices: { provider: 'elevenlabs' },
  validate_agent_template: { template: 'Hi' },
  create_agent: {
    ...newAgent,
    metadata: { kept: null },
    voice: { ...newAgent.voice, brand_new: { x: null }, settings: { speed: 1 } },
    volume: { web: 0 },
    clear: ['ambient_sound.source'],
  },
  copy_agent: { agent_id: 'x', name: 'y', changes: { metadata: { kept: null } } },
  list_agents: { tags: ['a'] },
  get_agent: { agent_id: 'x' },
  update_agent: {
    agent_id: 'x',
    note: '',
    voice: { brand_new: null },
    inactivity_settings: { reminder_max_count: 0 },
    clear: ['metadata.key', 'initial_message.message'],
  },
  archive_agent: { agent_id: 'x' },
  create_sip_trunk: { name: 'Trunk' },
  list_sip_trunks: {},
  get_sip_trunk: { sip_trunk_id: 'x' },
  update_sip_trunk: { sip_trunk_id: 'x', clear: ['termination_uri'] },
  delete_sip_trunk: { sip_trunk_id: 'x' },
  create_phone_number: { number: '+12025550199', sip_trunk_id: 'x' },
  list_phone_numbers: { offset: 1 },
  get_phone_number: { phone_number_id: 'x' },
  update_phone_number: { phone_number_id: 'x', clear: ['inbound_agent_id'] },
  delete_phone_number: { phone_number_id: 'x' },
  place_call: {
    type: 'phone',
    agent_id: 'x',
    from_number: '+12025550199',
    to_number: '+12025550100',
    test_variables: { name: null },
    overrides: { note: null },
  },
  check_call_readiness: { agent_id: 'x', from_number: '+12025550199', to_number: '+12025550100' },
  place_calls: {
    agent_id: 'x',
    from_number: '+12025550199',
    calls: [
      { to_number: '+12025550100' },
      { to_number: '+12025550101', external_id: 'two', test_variables: { name: null } },
    ],
  },
  wait_for_call: { call_id: 'x' },
  list_calls: { status: 'completed' },
  get_call: { call_id: 'x', from_turn: 1 },
  list_conversations: {},
  get_conversation: { id: 'x' },
  get_usage: { group_by: ['agent'] },
}
