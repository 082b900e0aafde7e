import { createPrivateKey } from 'node:crypto'

/** PKCS #8 of an Ed25519 key up to the key itself (RFC 8410 §7). */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * The key that ID tokens would be signed with, the same on all servers. None is ever made, but clients
 * look for a key where they look for OpenID Connect, and oidc-provider needs one.
 */
export function signingKey(seed: Uint8Array) {
  const der = Buffer.concat([ed25519Prefix, seed])
  const { d, x } = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({
    format: 'jwk',
  })
  return {
    kty: 'OKP' as const,
    crv: 'Ed25519' as const,
    alg: 'EdDSA',
    use: 'sig',
    d: d ?? '',
    x: x ?? '',
  }
}
