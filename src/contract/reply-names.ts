/*
 * Where a request names a field differently from the replies: callers who have just read a reply often
 * use its name. The pairs are those of the platform's reference, by route.
 */

/** What a reply calls a field, and what the request calls it; dotted for fields within objects. */
export type ReplyNames = Readonly<Record<string, string>>

/** Of an object in a reply, a request takes one field: `{"id":"…","name":"…"}` stands for its id. */
export type ReplyObjects = Readonly<Record<string, string>>

const agent: ReplyNames = { id: 'agent_id' }
const phoneNumber: ReplyNames = {
  friendly_name: 'name',
  sip_trunk: 'sip_trunk_id',
  inbound_agent: 'inbound_agent_id',
}
/** Of the catalogs. Both are required in a new agent; elsewhere an `id` may be a field of the provider. */
const catalogs: ReplyNames = { 'model.id': 'model.model', 'voice.id': 'voice.voice_id' }

/** By the id of the route. Names that the arguments of a tool have themselves are not replaced. */
export const replyNames: Readonly<Record<string, ReplyNames>> = {
  'agents.create': catalogs,
  'agents.get': agent,
  'agents.update': agent,
  'agents.archive': agent,
  'subaccounts.get': { id: 'subaccount_id' },
  'subaccounts.update': { id: 'subaccount_id' },
  'phone_numbers.create': phoneNumber,
  'phone_numbers.get': { id: 'phone_number_id' },
  'phone_numbers.update': { ...phoneNumber, id: 'phone_number_id' },
  'phone_numbers.delete': { id: 'phone_number_id' },
  'sip_trunks.get': { id: 'sip_trunk_id' },
  'sip_trunks.update': { id: 'sip_trunk_id' },
  'sip_trunks.delete': { id: 'sip_trunk_id' },
  'calls.get': { id: 'call_id' },
  'calls.list': { id: 'call_id' },
  'conversations.list': { conversation_id: 'id' },
}

/**
 * Fields of a request that are one field of an object in replies: a trunk and an agent are given by
 * their ids, a provider of the catalogs and a language by their codes.
 */
export const replyObjects: ReplyObjects = {
  sip_trunk_id: 'id',
  inbound_agent_id: 'id',
  provider: 'code',
  language: 'code',
  languages: 'code',
}
