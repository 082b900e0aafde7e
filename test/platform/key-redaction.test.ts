import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redactor } from '../../src/platform/key-redaction.ts'
import { connectHttp } from '../harness/client.ts'
import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { startHttpProgram } from '../harness/program.ts'
import { tries } from '../harness/property.ts'
import { rpc } from '../harness/rpc.ts'

const key = 'Sk-01/23+45"67=AbC'
const redact = redactor(key)
const json1 = JSON.stringify(key).slice(1, -1)
const hex = (text: string) => Buffer.from(text).toString('hex')
const base64 = (text: string) => Buffer.from(text).toString('base64')

const visible = fc.string({
  minLength: 8,
  maxLength: 30,
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
})

describe('the API key is removed from a text', () => {
  test.each([
    ['as it is', key],
    ['in small letters', key.toLowerCase()],
    ['in capitals', key.toUpperCase()],
    ['of an address', encodeURIComponent(key)],
    ['of an address, all of it escaped', Buffer.from(key).toString('hex').replaceAll(/../g, '%$&')],
    ['of an address within an address', encodeURIComponent(encodeURIComponent(key))],
    ['of JSON', json1],
    ['of JSON within JSON', JSON.stringify(json1).slice(1, -1)],
    ['of JSON with slashes escaped', json1.replaceAll('/', '\\/')],
    [
      'of JSON, all of it escaped',
      [...key].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join(''),
    ],
    ['of HTML', [...key].map((one) => `&#${one.charCodeAt(0)};`).join('')],
    ['in base64', base64(key)],
    ['in base64 of addresses', Buffer.from(key).toString('base64url')],
    ['in lines of base64', base64(key).replaceAll(/.{8}(?=.)/g, '$&\r\n')],
    ['in hexadecimal', hex(key)],
    ['in hexadecimal with capitals', hex(key).toUpperCase()],
    ['of a program, all of it escaped', hex(key).replaceAll(/../g, '\\x$&')],
    ['with invisible characters in it', [...key].join('\u200b')],
    ['with tag characters in it', [...key].join('\u{e0041}')],
    ['with soft hyphens in it, as JSON escapes them', [...key].join('\\u00ad')],
    ['in two lines', `${key.slice(0, 9)}\n${key.slice(9)}`],
  ])('%s', (_, written) => {
    expect(redact(`before ${written} after`)).toBe('before [API key] after')
  })

  test('in base64, at any offset', () => {
    for (const user of ['', 'u', 'us', 'use']) {
      const redacted = redact(`Basic ${base64(`${user}:${key}:x`)}`)
      expect(redacted).toContain('[API key]')
      expect(
        Buffer.from(redacted.slice(6).split('[', 1)[0] ?? '', 'base64').toString(),
      ).not.toContain(key.slice(0, 4))
    }
  })

  test('a text without the API key stays unchanged', () => {
    const text = JSON.stringify({ a: '100% "sure" / \\ \n', b: 'https://a.example/%20?x=%7B' })
    expect(redact(text)).toBe(text)
  })

  test('whatever visible characters the key has, and whatever text surrounds it', () => {
    fc.assert(
      fc.property(visible, fc.string(), fc.string(), (apiKey, before, after) => {
        const cleaned = redactor(apiKey)(before + apiKey + after)
        expect(cleaned.toLowerCase()).not.toContain(apiKey.toLowerCase())
      }),
      tries(1000),
    )
  })

  test('when the text is cut, so that no part of the key remains at the end', () => {
    const parts = fc.array(fc.constantFrom(key, json1, hex(key), 'some text ', '-'))
    fc.assert(
      fc.property(parts, fc.nat(200), (texts, first) => {
        const cut = redact.start(texts.join(''), first)
        expect(redact(texts.join('')).startsWith(cut)).toBe(true)
      }),
      tries(300),
    )
  })

  test('in linear time, even if a long text nearly repeats a long key', () => {
    const nearly = 'a'.repeat(4095)
    const began = process.threadCpuUsage()
    for (const unit of ['a', '\\u0061', '%61', '&#97;', '61', 'YWFh', '\\', '%25', '&#0', '%', '/'])
      for (const apiKey of [`${nearly}b`, `b${nearly}`, '%41'.repeat(1365), '/'.repeat(4096)])
        redactor(apiKey)(unit.repeat(65_536 / unit.length))
    expect(process.threadCpuUsage(began).user).toBeLessThan(8_000_000)
  })

  test('so that JSON stays valid, whatever text surrounds the key', () => {
    fc.assert(
      fc.property(visible, fc.string(), fc.string(), (apiKey, before, after) => {
        // Keys are never only digits, and never contain the two characters that JSON escapes.
        fc.pre(/[a-z]{2}/i.test(apiKey) && !/["\\]/.test(apiKey))
        const cleaned = redactor(apiKey)(JSON.stringify({ [before + apiKey]: [apiKey + after] }))
        expect(cleaned.toLowerCase()).not.toContain(apiKey.toLowerCase())
        expect(Object.keys(JSON.parse(cleaned))).toHaveLength(1)
      }),
      tries(300),
    )
  })
})

describe('a platform that repeats the key', () => {
  const secret = 'sk-Live/0123456789ABCdef'
  const all = {
    [secret]: secret,
    deep: [{ [`x${secret}`]: { [encodeURIComponent(secret)]: base64(secret) } }],
  }
  const escapedName = [...secret].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('')

  const forms = [
    secret,
    secret.toLowerCase(),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    base64(secret).replace(/=+$/, ''),
    escapedName,
  ]
  const expectClean = (outputs: unknown) => {
    const text = JSON.stringify(outputs)
    for (const form of forms) expect(text.includes(form), form).toBe(false)
    expect(text.toLowerCase()).not.toContain(secret.toLowerCase())
  }

  test('gets the key into no result: values, field names, resources, prompts, completions', async () => {
    await using platform = await startFakePlatform((_, res) => {
      const item = { id: 'a', name: secret, items: [], count: 1, models: [], provider: 'p', ...all }
      const body = JSON.stringify({ ...item, items: [item] }).slice(0, -1)
      res.writeHead(200, { 'content-type': 'application/json' })
      res.end(`${body},"${escapedName}":"${escapedName}"}`)
    })
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    await using client = await connectHttp('v2 2026-07-28', program.url, { 'x-api-key': secret })
    const outputs: unknown[] = []
    for (const [name, args] of [
      ['get_current_account', {}],
      ['list_agents', { fields: ['*'] }],
      ['get_agent', { agent_id: 'a' }],
      ['get_call', { call_id: 'a' }],
      ['list_calls', { fields: ['*'] }],
      ['list_models', {}],
    ] as const)
      outputs.push(await client.call(name, args))
    expect(JSON.stringify(outputs)).toContain('[API key]')
    const ask = (method: string, params: Record<string, unknown>) =>
      rpc(program.url, method, params, { key: secret })
    outputs.push(await ask('resources/list', {}))
    outputs.push(await ask('resources/read', { uri: 'voice-agents://agents/a' }))
    outputs.push(await ask('prompts/get', { name: 'review_agent', arguments: { agent_id: 'a' } }))
    const ref = { type: 'ref/prompt', name: 'review_agent' }
    outputs.push(
      await ask('completion/complete', { ref, argument: { name: 'agent_id', value: '' } }),
    )
    expectClean(outputs)
  })

  test('gets the key into no error: message, request id, host of a redirect', async () => {
    let nth = 0
    await using platform = await startFakePlatform(
      (_, res) => {
        const replies = [
          () =>
            json(
              res,
              422,
              {
                code: secret,
                message: secret,
                detail: secret,
                errors: [{ field: secret, message: secret, type: secret }],
              },
              { 'x-request-id': secret },
            ),
          () => json(res, 200, { items: secret, ...all }),
          () =>
            res
              .writeHead(302, { location: `https://${secret.replace('/', '-')}.example/v1` })
              .end(),
          () => res.writeHead(500).end(`<html>${secret}</html>`),
        ]
        replies[nth++ % replies.length]?.()
      },
      { account: 'own' },
    )
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    // A host name cannot contain a slash.
    const headers = { 'x-api-key': secret.replace('/', '-') }
    await using hosted = await connectHttp('v2 2026-07-28', program.url, headers)
    await using client = await connectHttp('v2 2026-07-28', program.url, { 'x-api-key': secret })
    const outputs: unknown[] = []
    for (let time = 0; time < 8; time++)
      outputs.push(
        await client.call('get_agent', { agent_id: '00000000-0000-4000-8000-00000000dead' }),
      )
    nth = 2
    const redirected = await hosted.call('list_sip_trunks')
    expect(redirected.content[0]?.text).toContain('redirected')
    expect(JSON.stringify(redirected).toLowerCase()).not.toContain(
      headers['x-api-key'].toLowerCase(),
    )
    expectClean(outputs.filter((one) => !JSON.stringify(one).includes('redirected')))
  })

  test('a client that sends the key as an argument does not get it into a result', async () => {
    await using platform = await startFakePlatform(
      (_, res) => json(res, 404, { code: 'not_found', message: 'No.' }),
      { account: 'own' },
    )
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    await using client = await connectHttp('v2 2026-07-28', program.url, { 'x-api-key': secret })
    expectClean([
      await client.call('get_call', { call_id: secret }),
      await client.call('get_agent', { [secret]: secret }),
      await client.call('get_conversation', { id: secret }),
      await rpc(program.url, 'tools/call', { name: secret, arguments: {} }, { key: secret }),
      await rpc(
        program.url,
        'resources/read',
        { uri: `voice-agents://x/${secret}` },
        { key: secret },
      ),
    ])
  })
})
