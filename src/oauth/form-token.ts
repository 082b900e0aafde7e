import { createHmac, timingSafeEqual } from 'node:crypto'
import type { SealingKeys } from '../state/sealing-keys.ts'

/** Proof that a form was made by these servers for one authorization request. Throws StateError. */
export interface FormTokens {
  of(interactionId: string): Promise<string>
  isOf(interactionId: string, token: string): Promise<boolean>
}

export function createFormTokens(sealingKeys: SealingKeys): FormTokens {
  const keys = () => sealingKeys.of('oauth forms')
  return {
    of: async (id) => tokenOf((await keys())[0], id),
    isOf: async (id, token) => (await keys()).some((key) => isSame(tokenOf(key, id), token)),
  }
}

const tokenOf = (key: Uint8Array, id: string) =>
  createHmac('sha256', key).update(id).digest('base64url')

const isSame = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
