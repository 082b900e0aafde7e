/** A user agent (RFC 6749): keeps cookies, follows redirects within the server, submits forms. */
export class UserAgent {
  readonly #cookies = new Map<string, { value: string; path: string }>()
  readonly #origin: string
  /** The current page. */
  page: { url: string; status: number; text: string; headers: Headers } | undefined

  constructor(origin: string) {
    this.#origin = origin
  }

  /** Opens an address. Returns the URL outside the server that it redirects to, if any. */
  async open(address: string | URL): Promise<URL | undefined> {
    return this.#go(new URL(address, this.#origin), { method: 'GET' })
  }

  /**
   * Submits the page's form with the button `answer`. `headers`: what a browser sends by default.
   */
  async answer(
    answer: string,
    fields: Record<string, string | string[]> = {},
    headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
  ): Promise<URL | undefined> {
    const form = this.form
    for (const [name, value] of Object.entries({ ...fields, answer })) {
      form.body.delete(name)
      for (const one of [value].flat()) form.body.append(name, one)
    }
    return this.#go(new URL(form.action, this.#origin), {
      method: 'POST',
      body: form.body.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })
  }

  /** The page's form, with hidden fields and ticked boxes. */
  get form(): { action: string; body: URLSearchParams } {
    const { text = '' } = this.page ?? {}
    const action = /<form[^>]* action="([^"]+)"/.exec(text)?.[1]
    if (action === undefined) throw new Error(`No form: ${text.replace(/<[^>]+>/g, ' ')}`)
    const body = new URLSearchParams()
    for (const [input] of text.matchAll(/<input[^>]*>/g)) {
      const name = /name="([^"]*)"/.exec(input)?.[1]
      const value = decoded(/value="([^"]*)"/.exec(input)?.[1] ?? '')
      const isSent = /type="hidden"/.test(input) || /\schecked/.test(input)
      if (name && isSent) body.append(name, value)
    }
    return { action, body }
  }

  get cookies(): string[] {
    return [...this.#cookies.keys()]
  }

  async #go(url: URL, init: RequestInit): Promise<URL | undefined> {
    const cookie = [...this.#cookies]
      .filter(([, { path }]) => url.pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ')
    const headers = { accept: 'text/html', ...init.headers, ...(cookie && { cookie }) }
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) this.#keep(line)
    const location = response.headers.get('location')
    if (location === null) {
      const text = await response.text()
      this.page = { url: url.href, status: response.status, text, headers: response.headers }
      // The final page redirects by a meta element.
      const target = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(text)?.[1]
      return target === undefined ? undefined : new URL(decoded(target))
    }
    const next = new URL(location, url)
    if (next.origin !== this.#origin) return next
    return this.#go(next, { method: 'GET' })
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ')
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? '/'
    if (value === '') this.#cookies.delete(name)
    else this.#cookies.set(name, { value, path })
  }
}

/** Decodes the HTML entities of a text. */
const decoded = (text: string) =>
  text.replace(/&(#x?[0-9a-f]+|amp|lt|gt|quot);/gi, (_, name: string) => {
    const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' }
    const code = name.replace(/^#x/i, '0x').replace(/^#/, '')
    return named[name] ?? String.fromCodePoint(Number(code))
  })

/** Allows a client all scopes in the sandbox. Returns the redirect to the client. */
export async function allowInSandbox(
  authorizationUrl: string | URL,
  fields: Record<string, string | string[]> = {},
): Promise<URL> {
  const person = new UserAgent(new URL(authorizationUrl).origin)
  await person.open(authorizationUrl)
  await person.answer('sandbox')
  const target = await person.answer('allow', { scope: ['read', 'write', 'call'], ...fields })
  if (!target) throw new Error(`Not sent back: ${person.page?.text.replace(/<[^>]+>/g, ' ')}`)
  return target
}
