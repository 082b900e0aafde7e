import assert from 'node:assert/strict'
import { exchange } from '../../harness/raw-http.ts'
import type { Scenario } from './scenario.ts'

/** Much more than the size limit of a body, in pieces. */
const piece = `100000\r\n${'x'.repeat(0x100000)}\r\n`
const manyPieces = piece.repeat(8)

const head = (host: string, key: string, more: string) =>
  `POST /v1/accounts/me/agents HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${key}\r\n${more}\r\n\r\n`
const large = 'Content-Length: 200000000'
const chunked = 'Transfer-Encoding: chunked'

/**
 * What is sent, and how the answer begins. When the server closes a connection on which the client
 * still sends, the answer may be lost.
 */
const requests: Readonly<Record<string, readonly [string, RegExp]>> = {
  'another Host': [head('evil.example', 'sandbox-key', large), /^HTTP\/1.1 403 /],
  'a wrong key': [head('localhost', 'wrong', large), /^HTTP\/1.1 401 /],
  'a wrong key, in pieces': [
    head('localhost', 'wrong', chunked) + manyPieces,
    /^($|HTTP\/1.1 401 )/,
  ],
  'a large body': [head('localhost', 'sandbox-key', large), /^HTTP\/1.1 413 /],
  'a large body, in pieces': [
    head('localhost', 'sandbox-key', chunked) + manyPieces,
    /^($|HTTP\/1.1 413 )/,
  ],
}

/** How many of each are sent at once. */
const times = 50

export const sandboxRest: Scenario = {
  name: 'sandbox-rest',
  point:
    'Web pages and clients without a key send 200 MB to the REST server of the sandbox, 250 at once.',
  guarantee: 'Host and key are checked before a body is read, and at most 1 MiB of a body is read.',
  async run(attack) {
    const sandbox = attack.start({ args: ['sandbox', '--port', '0'], isMemoryScarce: true })
    const [, url = ''] = await sandbox.waitFor(/sandbox API at (\S+)\/v1/)
    const sent = Object.entries(requests).flatMap((one) => Array(times).fill(one) as (typeof one)[])
    const wrong = await Promise.all(
      sent.map(async ([name, [bytes, answer]]) => {
        const response = await exchange(url, bytes)
        return answer.test(response) ? undefined : `${name}: ${response.slice(0, 100)}`
      }),
    )
    assert.deepEqual(
      wrong.filter((one) => one !== undefined),
      [],
    )
    const account = await fetch(`${url}/v1/accounts/current`, {
      headers: { 'x-api-key': 'sandbox-key' },
    })
    assert.equal(account.status, 200)
    return { requests: sent.length }
  },
}
