import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createClientAddress } from '../../../src/server/transports/http-admission.ts'
import { networkOf } from '../../../src/server/transports/quotas.ts'

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['2001:0DB8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2'],
  ['2001:0db8:0000:0000::6', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['::FFFF:cb00:7109', '0:0:0:0:0:ffff:cb00:7109'],
  ['', ''],
])('the network of %j is %j', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

describe('the address of a client', () => {
  const from = (remoteAddress: string, ...forwarded: string[]) =>
    Object.assign(new IncomingMessage(new Socket()), {
      socket: { remoteAddress },
      headersDistinct: forwarded.length > 0 ? { 'x-forwarded-for': forwarded } : {},
    })
  const behindProxies = createClientAddress([
    { address: '10.0.0.0', family: 'ipv4', prefix: 8 },
    { address: 'fd00::', family: 'ipv6', prefix: 8 },
  ])

  test.each([
    ['of a proxy without the header is its own', from('10.0.0.1'), '10.0.0.1'],
    ['is what the proxy saw', from('10.0.0.1', '203.0.113.7'), '203.0.113.7'],
    ['is not what the client wrote', from('10.0.0.1', '198.51.100.1, 203.0.113.7'), '203.0.113.7'],
    [
      'is found through several proxies and headers',
      from('::ffff:10.0.0.1', '198.51.100.1', '203.0.113.7, fd00::2', '10.9.9.9'),
      '203.0.113.7',
    ],
    ['has no port', from('10.0.0.1', '203.0.113.7:4711'), '203.0.113.7'],
    ['has no brackets', from('10.0.0.1', '[2001:db8::1]:4711'), '2001:db8::1'],
    [
      'is the proxy where it names nothing usable',
      from('10.0.0.1', '1.2.3.4, unknown'),
      '10.0.0.1',
    ],
    ['of another is its own, whatever it wrote', from('192.0.2.1', '203.0.113.7'), '192.0.2.1'],
    ['is a proxy where there are only proxies', from('10.0.0.1', '10.0.0.2'), '10.0.0.2'],
  ])('%s', (_, request, address) => {
    expect(behindProxies(request)).toBe(address)
  })

  test('is the one of the connection where no proxy is trusted', () => {
    expect(createClientAddress([])(from('127.0.0.1', '203.0.113.7'))).toBe('127.0.0.1')
  })
})
