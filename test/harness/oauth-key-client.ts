import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import * as z from 'zod'

/** Times in an assertion's claims, s since 1970. */
interface AssertedTimes {
  readonly exp: number
  readonly iat?: number
}

const Answer = z.object({ client_id: z.string().optional(), error: z.string().optional() })

/**
 * Registers a client that authenticates with a key (private_key_jwt). `send` requests a token for
 * an unknown code: `invalid_grant` means that the client was authenticated.
 */
export async function registeredKeyClient(url: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const post = async (
    path: string,
    headers: Record<string, string>,
    body: string | URLSearchParams,
  ) => {
    const answer = await fetch(`${url}/oauth/${path}`, { method: 'POST', headers, body })
    const { status, headers: got } = answer
    return { status, headers: got, ...Answer.parse(await answer.json()) }
  }
  const metadata = {
    redirect_uris: ['https://a.example.com/callback'],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [publicKey.export({ format: 'jwk' })] },
  }
  const json = { 'content-type': 'application/json' }
  const { client_id: id = '' } = await post('register', json, JSON.stringify(metadata))
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  return {
    assertion(times: AssertedTimes): string {
      const claims = { iss: id, sub: id, aud: url, jti: randomUUID(), ...times }
      const text = `${encoded({ alg: 'ES256' })}.${encoded(claims)}`
      const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
      return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
    },
    send: (assertion: string) =>
      post(
        'token',
        {},
        new URLSearchParams({
          grant_type: 'authorization_code',
          code: 'none',
          redirect_uri: 'https://a.example.com/callback',
          client_assertion: assertion,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        }),
      ),
  }
}
