import { isIP } from 'node:net'
import * as z from 'zod'
import { accountParams, id, pageOf, pageQuery } from './field.ts'
import { route } from './route.ts'

/** A SIP trunk [B]. Replies never contain the password. */
export const SipTrunk = z.looseObject({
  id: z.string().describe('Trunk id.'),
  name: z.string().nullish().describe('Display name.'),
  phone_numbers: z
    .array(
      z.looseObject({
        id: z.string().describe('Phone number id.'),
        number: z.string().nullish().describe('E.164.'),
        friendly_name: z.string().nullish().describe('Display name.'),
      }),
    )
    .nullish()
    .describe('Numbers on the trunk.'),
  has_auth_password: z.boolean().nullish().describe('Whether a password is set.'),
  auth_password_length: z.number().nullish().describe('Password length.'),
  allowed_ips: z
    .array(z.string())
    .nullish()
    .describe('Addresses that may send calls. What an empty list means is not published.'),
  termination_uri: z.string().nullish().describe('Where outgoing calls are sent.'),
  sip_auth_username: z.string().nullish().describe('SIP user name.'),
})
export type SipTrunk = z.output<typeof SipTrunk>

/** True for an IPv4 or IPv6 address, alone or with a valid CIDR prefix length. */
function isIpOrCidr(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128)
}

/** An IP address, or a block of addresses in CIDR notation. */
export const allowedIp = z
  .string()
  .refine(isIpOrCidr, { error: 'Expected an IPv4 or IPv6 address or a CIDR block' })

const fields = {
  name: z.string().max(100).nullish().describe('Display name.'), // bound [R]
  termination_uri: z
    .string()
    .nullish()
    .describe('Where outgoing calls are sent, such as sip.example.com:5060.'),
  allowed_ips: z
    .array(allowedIp)
    .nullish()
    .describe('IPv4, IPv6 or CIDR blocks that may send calls.'),
}
const sipTrunkParams = { ...accountParams, sip_trunk_id: id('Trunk id.') }

export const sipTrunkRoutes = {
  create: route({
    id: 'sip_trunks.create',
    method: 'POST',
    path: '/v1/accounts/{account_id}/sip-trunks',
    summary: 'Create a SIP trunk.',
    params: accountParams,
    body: z.object(fields),
    reply: SipTrunk,
    success: 201,
    effect: 'writes',
  }),
  list: route({
    id: 'sip_trunks.list',
    method: 'GET',
    path: '/v1/accounts/{account_id}/sip-trunks',
    summary: 'SIP trunks of an account.',
    params: accountParams,
    query: pageQuery,
    reply: pageOf(SipTrunk),
    effect: 'reads',
  }),
  get: route({
    id: 'sip_trunks.get',
    method: 'GET',
    path: '/v1/accounts/{account_id}/sip-trunks/{sip_trunk_id}',
    summary: 'One SIP trunk.',
    params: sipTrunkParams,
    reply: SipTrunk,
    effect: 'reads',
  }),
  update: route({
    id: 'sip_trunks.update',
    method: 'PATCH',
    path: '/v1/accounts/{account_id}/sip-trunks/{sip_trunk_id}',
    summary: 'Change a SIP trunk.',
    params: sipTrunkParams,
    body: z.object(fields),
    reply: SipTrunk,
    effect: 'writes',
  }),
  delete: route({
    id: 'sip_trunks.delete',
    method: 'DELETE',
    path: '/v1/accounts/{account_id}/sip-trunks/{sip_trunk_id}',
    summary: 'Delete a SIP trunk that has no phone numbers.',
    params: sipTrunkParams,
    success: 204,
    effect: 'destroys',
  }),
}
