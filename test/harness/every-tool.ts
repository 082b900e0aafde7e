import type { TestClient, ToolResult } from './client.ts'

const id = (value: unknown) => String((value as { id?: unknown } | undefined)?.id)

/**
 * Calls every tool once with valid arguments, in an order in which each finds the data that it
 * needs.
 */
export async function everyTool(
  client: Pick<TestClient, 'call'>,
): Promise<Map<string, ToolResult>> {
  const results = new Map<string, ToolResult>()
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const result = await client.call(name, args)
    results.set(name, result)
    return result.structuredContent
  }

  await call('get_current_account')
  await call('list_subaccounts')
  const subaccount_id = id(await call('create_subaccount', { name: 'Branch' }))
  await call('get_subaccount', { subaccount_id })
  await call('update_subaccount', { subaccount_id, is_active: false })

  await call('list_models')
  await call('list_transcribers')
  await call('list_voices', { provider: 'elevenlabs', language: 'de' })
  await call('validate_agent_template', { template: 'Hello {{ contact.first_name }}' })

  const agent_id = id(await call('create_agent', newAgent))
  await call('list_agents', { name: 'every' })
  await call('get_agent', { agent_id })
  await call('copy_agent', { agent_id, name: 'A copy', changes: { note: 'Copied' } })
  await call('update_agent', { agent_id, note: 'Checked', volume: { web: 0 } })

  const sip_trunk_id = id(
    await call('create_sip_trunk', { name: 'Trunk', termination_uri: 'sip.example.com' }),
  )
  await call('list_sip_trunks')
  await call('get_sip_trunk', { sip_trunk_id })
  await call('update_sip_trunk', { sip_trunk_id, allowed_ips: ['192.0.2.0/24'] })
  const number = '+12025550199'
  const phone_number_id = id(await call('create_phone_number', { number, sip_trunk_id }))
  await call('list_phone_numbers')
  await call('get_phone_number', { phone_number_id })
  await call('update_phone_number', { phone_number_id, inbound_agent_id: agent_id })

  const call_id = id(
    await call('place_call', {
      type: 'phone',
      agent_id,
      from_number: number,
      to_number: '+12025550100',
      external_id: `every-${agent_id}`,
    }),
  )
  await call('wait_for_call', { call_id, timeout_seconds: 20 })
  const several = { agent_id, from_number: number }
  const calls = [{ to_number: '+12025550101' }, { to_number: '+12025550102' }]
  await call('check_call_readiness', { ...several, to_number: '+12025550103' })
  await call('place_calls', { ...several, calls })
  await call('list_calls', { agent_id })
  await call('get_call', { call_id })
  await call('list_conversations', { agent_id, transcript: 'end' })
  await call('get_conversation', { id: call_id, from_turn: 1, to_turn: 5 })
  await call('get_usage', { granularity: 'month', group_by: ['agent', 'type'] })

  await call('delete_phone_number', { phone_number_id })
  await call('delete_sip_trunk', { sip_trunk_id })
  await call('archive_agent', { agent_id })
  return results
}

/** The required fields of an agent, and a name. */
export const newAgent = {
  name: 'Every tool',
  model: { provider: 'openai', model: 'gpt-4.1' },
  transcriber: { provider: 'deepgram', model: 'nova-2:general', languages: [] },
  voice: { provider: 'elevenlabs', voice_id: 'sbx-en-us-ada' },
}

/** Invalid arguments for every tool, and the argument that the error must name. */
export const badCalls: Record<string, [args: Record<string, unknown>, named: string]> = {
  get_current_account: [{ acount: 'me' }, 'acount'],
  list_subaccounts: [{ limit: 0 }, 'limit'],
  create_subaccount: [{}, 'name'],
  get_subaccount: [{}, 'subaccount_id'],
  update_subaccount: [{ subaccount_id: 'x' }, 'name'],
  list_models: [{ account_id: '' }, 'account_id'],
  list_transcribers: [{ provider: '' }, 'provider'],
  list_voices: [{ gender: 'deep' }, 'gender'],
  validate_agent_template: [{ template: 5 }, 'template'],
  create_agent: [{ ...newAgent, voice: undefined }, 'voice'],
  copy_agent: [{ agent_id: 'x', name: 'y', changes: { volume: { web: 2 } } }, 'changes.volume.web'],
  list_agents: [{ created_gt: 'yesterday' }, 'created_gt'],
  get_agent: [{ agent: 'x' }, 'agent_id'],
  update_agent: [{ agent_id: 'x', volume: { web: 1.5 } }, 'volume.web'],
  archive_agent: [{ agent_id: '..' }, 'agent_id'],
  create_sip_trunk: [{ allowed_ips: ['10.0.0.0/33'] }, 'allowed_ips.0'],
  list_sip_trunks: [{ offset: -1 }, 'offset'],
  get_sip_trunk: [{ sip_trunk_id: 7 }, 'sip_trunk_id'],
  update_sip_trunk: [{ sip_trunk_id: 'x', name: 'n'.repeat(101) }, 'name'],
  delete_sip_trunk: [{}, 'sip_trunk_id'],
  create_phone_number: [{ number: '030 1234', sip_trunk_id: 'x' }, 'number'],
  list_phone_numbers: [{ limit: 'ten' }, 'limit'],
  get_phone_number: [{ phone_number_id: '' }, 'phone_number_id'],
  update_phone_number: [{ phone_number_id: 'x', nickname: 'x' }, 'nickname'],
  delete_phone_number: [{ phone: 'x' }, 'phone_number_id'],
  place_call: [{ type: 'fax', agent_id: 'x' }, 'type'],
  check_call_readiness: [{ agent_id: 'x', from_number: '+1' }, 'to_number'],
  place_calls: [{ agent_id: 'x', from_number: '+12025550110', calls: [] }, 'calls'],
  wait_for_call: [{ call_id: 'x', timeout_seconds: 56 }, 'timeout_seconds'],
  list_calls: [{ direction: 'sideways' }, 'direction'],
  get_call: [{ call_id: '.' }, 'call_id'],
  get_conversation: [{ conversation: 'x' }, 'id'],
  list_conversations: [{ created_after: '2026-01-01' }, 'created_after'],
  get_usage: [{ limit: 501 }, 'limit'],
}
