import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KeyProblem, PageModel } from '../../../src/oauth/pages/models.ts'
import { renderPage } from '../../../src/oauth/pages/pages.ts'
import { tries } from '../../harness/property.ts'
import { consentForm, keyForm } from './models.ts'

const problems = ['expired', 'forged', 'answered', 'invalid', 'unavailable', 'failed'] as const
const pages: PageModel[] = [
  keyForm,
  { ...keyForm, platform: 'sandbox' },
  consentForm,
  { page: 'return', name: 'Example Chat', address: 'https://chat.example/callback?code=1' },
  ...problems.map((problem) => ({ page: 'problem' as const, problem })),
]

/** The key page for a program that listens on the person's computer. */
const onThisComputer = {
  ...keyForm,
  client: { ...keyForm.client, redirectUri: 'http://127.0.0.1:41233/callback' },
}

/** Directives of a page's content security policy, by name. */
const policyOf = (model: PageModel) =>
  new Map(
    (renderPage(model).headers['content-security-policy'] ?? '').split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ')
      return [name, sources]
    }),
  )

describe('headers of every page', () => {
  test.each(pages)('nothing is loaded, framed, stored or sent on ($page $problem)', (model) => {
    const { headers, body } = renderPage(model)
    const style = /<style>(.*)<\/style>/s.exec(body)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(Object.fromEntries(policyOf(model))).toMatchObject({
      'default-src': ["'none'"],
      'style-src': [`'sha256-${hash}'`],
      'frame-ancestors': ["'none'"],
      'base-uri': ["'none'"],
    })
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
  })

  test.each([
    ['https://chat.example/callback?x=1', 'https://chat.example'],
    ['https://chat.example:8443/callback', 'https://chat.example:8443'],
    ['http://127.0.0.1:41233/callback', 'http://127.0.0.1:41233'],
    ['http://localhost:41233/callback', 'http://localhost:41233'],
    // A policy has no syntax for these hosts.
    ['http://[::1]:41233/callback', 'http:'],
    ['cursor://example.editor/oauth/callback', 'cursor:'],
    ['com.example.app:/callback', 'com.example.app:'],
  ])('a form may end at %s', (redirectUri, source) => {
    const client = { ...keyForm.client, redirectUri }
    expect(policyOf({ ...keyForm, client }).get('form-action')).toEqual(["'self'", source])
    expect(policyOf({ ...consentForm, client }).get('form-action')).toEqual(["'self'", source])
  })

  test.each(["https://a.example;script-src 'unsafe-inline'/", 'x y:/', '', 'javascript:alert(1)'])(
    'a redirect cannot add a directive: %j',
    (redirectUri) => {
      const policy = policyOf({ ...keyForm, client: { ...keyForm.client, redirectUri } })
      expect([...policy.keys()]).toEqual([
        'default-src',
        'style-src',
        'form-action',
        'frame-ancestors',
        'base-uri',
      ])
      expect(policy.get('form-action')?.length).toBeLessThanOrEqual(2)
    },
  )

  test('a page without a form admits none', () => {
    expect(policyOf({ page: 'problem', problem: 'expired' }).get('form-action')).toEqual(["'none'"])
  })
})

describe('texts from outside', () => {
  const hostile = [
    '</title><script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    '&lt;script&gt;',
    '\u202egnp.exe\u202d',
    'x\u0000y\u2028z\r\nSet-Cookie: a=b',
    'a'.repeat(10_000),
    '\u0300'.repeat(500),
  ]
  /** All tags and attribute names of a page, without texts. */
  const shape = (body: string) => body.match(/<\/?[a-z]+|\s[a-z-]+=(?=")/g)

  test.each(hostile)('a name changes no tag: %j', (name) => {
    const shown = (client: { name: string }) => [
      shape(renderPage({ ...keyForm, client: { ...keyForm.client, ...client } }).body),
      shape(renderPage({ ...consentForm, client: { ...keyForm.client, ...client } }).body),
    ]
    expect(shown({ name })).toEqual(shown({ name: 'Example Chat' }))
  })

  test('a name of 10,000 characters takes no more room than a long name', () => {
    const client = { ...keyForm.client, name: 'a'.repeat(10_000) }
    const { body } = renderPage({ ...keyForm, client })
    expect(body).not.toContain('a'.repeat(61))
    expect(body).toContain('and 9940 more characters')
  })

  test('characters that reverse or hide text are written as escapes', () => {
    const client = { ...keyForm.client, name: 'Good\u202eliaB\u200b' }
    const { body } = renderPage({ ...keyForm, client })
    expect(body).not.toMatch(/[\u202e\u200b]/)
    expect(body).toContain('Good\\u202eliaB\\u200b')
  })

  test('a quote inside a name does not end it', () => {
    const client = { ...keyForm.client, name: 'Chat” to nothing, “it "is" safe' }
    const { body } = renderPage({ ...keyForm, client })
    expect(body).toMatch(/<bdi>“[^“”"]*”</)
  })

  /** Arbitrary text, often with characters that end an attribute or start a tag. */
  const texts = fc
    .array(
      fc.oneof(
        fc.constantFrom('<b>', '</title>', '"', "'", '>', ' x="', '&', '&lt;'),
        fc.string({ unit: 'binary' }),
      ),
    )
    .map((parts) => parts.join(''))

  test('whatever the texts are, the page has the same tags', () => {
    const model = (text: string): PageModel[] => [
      {
        ...keyForm,
        client: { ...keyForm.client, name: `n${text}` },
        action: text,
        formToken: text,
        again: text,
      },
      { ...consentForm, account: { id: text, name: `n${text}` } },
      { page: 'problem', problem: 'invalid', detail: text },
      { page: 'problem', problem: 'expired', again: text },
      { ...onThisComputer, client: { ...onThisComputer.client, name: `n${text}` } },
      { page: 'return', name: `n${text}`, address: 'https://chat.example/callback?code=1' },
    ]
    const plain = model('x').map((page) => shape(renderPage(page).body))
    fc.assert(
      fc.property(texts, (text) => {
        expect(model(text).map((page) => shape(renderPage(page).body))).toEqual(plain)
      }),
      tries(200),
    )
  })
})

describe('the key form', () => {
  test.each<[KeyProblem, number]>([
    [{ kind: 'missing' }, 422],
    [{ kind: 'malformed' }, 422],
    [{ kind: 'wrong' }, 422],
    [{ kind: 'no_access' }, 403],
    [{ kind: 'unreachable' }, 503],
    [{ kind: 'too_many', retryAfterSeconds: 90 }, 429],
  ])('says why a key was not taken: $kind', (problem, status) => {
    const page = renderPage({ ...keyForm, problem })
    expect(page.status).toBe(status)
    expect(
      /id="key-problem" role="alert">.*?<span>([^<]+)</s.exec(page.body)?.[1],
    ).toMatchSnapshot()
    expect(page.body).toContain('aria-describedby="key-problem key-hint"')
    expect(page.body).toMatch(/<title>Error: /)
  })

  test('tells programs, too, when the next key may be tried', () => {
    const problem: KeyProblem = { kind: 'too_many', retryAfterSeconds: 90 }
    const { headers, body } = renderPage({ ...keyForm, problem })
    expect(headers['retry-after']).toBe('90')
    expect(body).toMatch(/\b2 minutes\b/)
  })

  test('asks for no key on the sandbox', () => {
    const { body } = renderPage({ ...keyForm, platform: 'sandbox' })
    expect(body).not.toContain('name="key"')
    expect(body).toContain('value="sandbox"')
  })
})

test('an expired request is asked for again on its page, if its address is known', () => {
  const shown = (again?: string) => renderPage({ page: 'problem', problem: 'expired', again }).body
  const again = '/oauth/authorize?client_id=c'
  expect(shown(again)).toContain(`<a class="button primary" href="${again}">Ask again</a>`)
  expect(shown(again)).toContain('<p>Ask for access again, or connect again in the program.</p>')
  expect(shown()).not.toContain('<a ')
  expect(shown()).toContain('it opens a new page')
})

describe('who asks', () => {
  const shown = (client: Partial<typeof keyForm.client>) =>
    renderPage({ ...keyForm, client: { ...keyForm.client, ...client } })
      .body.replaceAll('<wbr>', '')
      .replaceAll(/<bdi class="host">([^<]*)<\/bdi>/g, '$1')
      .replaceAll(/\s+/g, ' ')

  test('a client known by its document is named with its host, and nothing is warned of', () => {
    expect(shown({})).toContain('<dd>chat.example (verified)</dd>')
    expect(shown({})).not.toContain('<p class="notice"')
  })

  test('a document that sends people to another site is warned of', () => {
    const body = shown({ redirectUri: 'https://other.example/callback' })
    expect(body).toMatch(
      /<p class="notice" data-tone="warning">.*?<span>chat\.example\b[^<]*\bother\.example\b/,
    )
  })

  test('a name that ends with the same letters is another site', () => {
    const body = shown({ redirectUri: 'https://badchat.example/callback' })
    expect(body).toMatch(
      /<p class="notice" data-tone="warning">.*?<span>chat\.example\b[^<]*\bbadchat\.example\b/,
    )
  })

  test('a client that registered itself is warned of', () => {
    const body = shown({ known: 'by_registration' })
    expect(body).toMatch(
      /<p class="notice" data-tone="warning">.*?<span>[^<]*\bregister\b[^<]*\bchat\.example\b/,
    )
  })

  test.each([
    'http://localhost:1234/cb',
    'http://127.0.0.1/cb',
    'http://[::1]:9/cb',
    'cursor://x/cb',
  ])('a program on this computer is warned of: %s', (redirectUri) => {
    for (const known of ['by_document', 'by_registration', 'by_operator'] as const) {
      expect(shown({ redirectUri, known })).toMatch(
        /<p class="notice" data-tone="warning">.*?<span>[^<]*\bthis computer\b/,
      )
    }
  })

  test('a publisher does not vouch for a program on this computer, and the warning is below', () => {
    const { redirectUri } = onThisComputer.client
    const body = shown({ redirectUri })
    expect(body).not.toContain('verified')
    expect(body).toMatch(
      /<dd><bdi>“Example Chat”<\/bdi> \(chat\.example\): any program on this computer can use this name<\/dd> <\/dl> <p class="notice" data-tone="warning">/,
    )
    expect(shown({ redirectUri, name: ' ' })).toContain('<dd>chat.example: any program')
    expect(shown({ redirectUri, name: ' ', known: 'by_registration' })).toContain(
      '<dd>nothing</dd>',
    )
  })

  test('a host breaks into lines after its dots, and is escaped', () => {
    const { body } = renderPage({ ...keyForm, platform: { host: 'api.<b>.example' } })
    expect(body).toContain('api.<wbr>&#60;b&#62;.<wbr>example.')
  })

  test('a host in other letters is shown as its ASCII form', () => {
    const id = 'https://сhat.example/client.json'
    expect(shown({ id, redirectUri: id })).toContain('xn--')
  })

  test('a client of the operator is named as that', () => {
    expect(shown({ known: 'by_operator' })).toMatch(/<dd>[^<]*\boperator\b/)
  })

  test.each([undefined, '', '  '])('a client without a name is said to have none: %j', (name) => {
    // The name of a client is in quotes; the replacement for a missing name is not.
    expect(shown({ name })).toMatch(/<h1>[^<]*<bdi>a program without a name</)
    expect(shown({})).toMatch(/<h1>[^<]*<bdi>“Example Chat”</)
  })
})

describe('the consent form', () => {
  test('shows the account, and what was asked for and nothing else', () => {
    const { body } = renderPage({ ...consentForm, asked: ['read', 'call'], ticked: ['read'] })
    expect(body).toContain('Example Clinic')
    expect(body).toMatch(/value="read"[^>]* checked/)
    expect(body).toMatch(/value="call"(?![^>]* checked)/)
    expect(body).not.toContain('value="write"')
  })

  test('has paid calls in a group of their own, and says what they cost', () => {
    const groups = (model: PageModel) => renderPage(model).body.match(/<fieldset.*?<\/fieldset>/gs)
    expect(groups(consentForm)?.map((group) => group.match(/(?<=value=")\w+/g))).toEqual([
      ['read', 'write'],
      ['call'],
    ])
    expect(groups(consentForm)?.[1]).toContain('data-tone="warning"')
    expect(groups({ ...consentForm, isSandbox: true })?.[1]).not.toContain('data-tone="warning"')
    expect(groups({ ...consentForm, asked: ['read'] })).toHaveLength(1)
  })

  test.each([
    ['a verified website', {}, ['call']],
    ['a website that registered itself', { known: 'by_registration' }, ['write', 'call']],
    [
      'a program on this computer',
      { known: 'by_registration', redirectUri: 'http://127.0.0.1:1/' },
      ['call'],
    ],
  ] as const)('says what can be allowed later: %s', (_, client, scopes) => {
    const { body } = renderPage({ ...consentForm, client: { ...consentForm.client, ...client } })
    const hints = [...body.matchAll(/id="scope-(\w+)-hint">([^<]*)</g)]
    expect(hints.flatMap(([, scope, hint = '']) => (/\blater\b/.test(hint) ? scope : []))).toEqual(
      scopes,
    )
  })

  test('says that nothing was chosen', () => {
    const page = renderPage({ ...consentForm, ticked: [], nothingTicked: true })
    expect(page.status).toBe(422)
    expect(page.body).toMatch(/id="scope-problem" role="alert">.*?<span>[^<]+</s)
    expect(page.body.match(/<fieldset aria-describedby="scope-problem">/g)).toHaveLength(2)
  })
})

describe('the way back', () => {
  const back = (address: string, name: string | undefined = 'Example Chat') =>
    renderPage({ page: 'return', name, address }).body.replaceAll(/\s+/g, ' ')

  test.each([
    'https://chat.example/callback?code=1&state=a',
    'http://127.0.0.1:1234/cb?error=access_denied',
    'cursor://x/cb?code=1',
  ])('%s', (address) => {
    const body = back(address)
    const escaped = address.replaceAll('&', '&#38;')
    expect(body).toContain(`<meta http-equiv="refresh" content="0;url=${escaped}">`)
    expect(body).toContain(`<a class="button primary" href="${escaped}">`)
    const texts = body.slice(body.indexOf('<h1'), body.indexOf('</main>'))
    expect(texts.replaceAll(/<[^>]*>/g, '').trim()).toMatchSnapshot()
    expect(body.includes('<svg')).toBe(address.includes('code='))
  })

  test('a client without a name is “the program”', () => {
    const body = back('cursor://x/cb?code=1', ' ')
    expect(body).toContain('<p>The program opens now.</p>')
    expect(body).toContain('<span>Open the program</span>')
  })

  test.each(['javascript:alert(1)', 'data:text/html,x', 'vbscript:x', 'JAVASCRIPT:alert(1)'])(
    'never leads to code: %s',
    (address) => {
      const body = back(address)
      expect(body).not.toMatch(/<a |refresh/)
      expect(body).toContain('data-problem="unsafe_return"')
    },
  )
})
