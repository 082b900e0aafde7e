import * as z from 'zod'
import { accountParams, e164, id, pageOf, pageQuery } from './field.ts'
import { route } from './route.ts'

/** A phone number of the account [B]. */
export const PhoneNumber = z.looseObject({
  id: z.string().describe('Phone number id.'),
  number: z.string().nullish().describe('The number, E.164.'),
  friendly_name: z.string().nullish().describe('Display name.'),
  sip_trunk: z
    .looseObject({
      id: z.string().describe('Trunk id.'),
      name: z.string().nullish().describe('Trunk name.'),
      is_managed: z.boolean().nullish().describe('True for a trunk of the platform itself.'),
    })
    .nullish()
    .describe('Trunk of the number; null when unlinked.'),
  inbound_agent: z
    .looseObject({
      id: z.string().describe('Agent id.'),
      name: z.string().nullish().describe('Agent name.'),
      avatar: z.unknown().optional().describe('Picture, if any.'),
    })
    .nullish()
    .describe('Agent that answers incoming calls; null if unassigned.'),
  spam_data: z.looseObject({}).nullish().describe('Spam reputation.'),
  checker_data: z
    .looseObject({})
    .nullish()
    .describe('Reputation check: score, complaints, caller info, time.'),
})
export type PhoneNumber = z.output<typeof PhoneNumber>

const fields = {
  number: e164('The number, E.164.'),
  name: z.string().max(100).describe('Display name.'),
}
/** Id of a linked object. Null removes the link [R]. */
const link = (what: string) => z.string().min(1).nullish().describe(what)

const phoneNumberParams = { ...accountParams, phone_number_id: id('Phone number id.') }

export const phoneNumberRoutes = {
  create: route({
    id: 'phone_numbers.create',
    method: 'POST',
    path: '/v1/accounts/{account_id}/phone-numbers',
    summary:
      'Add a number on a SIP trunk: your own, or without number one that the platform assigns.',
    params: accountParams,
    body: z.object({
      number: fields.number.nullish(),
      sip_trunk_id: id('SIP trunk.'),
      name: fields.name.nullish(),
      inbound_agent_id: link('Agent that answers incoming calls.'),
    }),
    reply: PhoneNumber,
    success: 201,
    effect: 'writes',
  }),
  list: route({
    id: 'phone_numbers.list',
    method: 'GET',
    path: '/v1/accounts/{account_id}/phone-numbers',
    summary: 'Phone numbers of an account.',
    params: accountParams,
    query: pageQuery,
    reply: pageOf(PhoneNumber),
    effect: 'reads',
  }),
  get: route({
    id: 'phone_numbers.get',
    method: 'GET',
    path: '/v1/accounts/{account_id}/phone-numbers/{phone_number_id}',
    summary: 'One phone number.',
    params: phoneNumberParams,
    reply: PhoneNumber,
    effect: 'reads',
  }),
  update: route({
    id: 'phone_numbers.update',
    method: 'PATCH',
    path: '/v1/accounts/{account_id}/phone-numbers/{phone_number_id}',
    summary: 'Change a phone number, its trunk or its inbound agent.',
    params: phoneNumberParams,
    body: z.object({
      number: fields.number.nullish(),
      name: fields.name.nullish(),
      sip_trunk_id: link('SIP trunk.'),
      inbound_agent_id: link('Agent that answers.'),
    }),
    reply: PhoneNumber,
    effect: 'writes',
  }),
  delete: route({
    id: 'phone_numbers.delete',
    method: 'DELETE',
    path: '/v1/accounts/{account_id}/phone-numbers/{phone_number_id}',
    summary: 'Remove a number; a purchased one is released permanently.',
    params: phoneNumberParams,
    success: 204,
    effect: 'destroys',
  }),
}
