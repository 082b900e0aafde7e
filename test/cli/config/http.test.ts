import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../../src/cli/config/config-error.ts'
import { oauthConfig } from '../../../src/cli/config/http.ts'

describe('--oauth', () => {
  test('takes the public address', () => {
    const texts = { oauth: 'true', 'public-url': 'https://voice.example.com:8443/' }
    expect(oauthConfig(texts, {})?.publicUrl.origin).toBe('https://voice.example.com:8443')
    expect(oauthConfig({ ...texts, 'public-url': 'http://127.0.0.1:3000' }, {})).toBeDefined()
    expect(oauthConfig({}, {})).toBeUndefined()
    expect(oauthConfig({ oauth: 'false' }, {})).toBeUndefined()
  })

  test.each([
    [{ oauth: 'true' }, / --public-url /],
    [{ oauth: 'maybe' }, /^--oauth /],
    [{ 'public-url': 'https://a.example.com' }, /^--public-url .* --oauth /],
    [{ 'oauth-clients': 'file' }, /^--oauth-clients .* --oauth /],
    [{ oauth: 'true', 'public-url': 'voice.example.com' }, /^--public-url .*https:\/\/\.$/],
    [
      { oauth: 'true', 'public-url': 'http://voice.example.com' },
      /^--public-url .* voice\.example\.com,/,
    ],
    [
      { oauth: 'true', 'public-url': 'https://voice.example.com/mcp' },
      / https:\/\/voice\.example\.com\. /,
    ],
    [
      { oauth: 'true', 'public-url': 'https://a:b@voice.example.com' },
      / https:\/\/voice\.example\.com\. /,
    ],
  ])('%j is refused', (texts, message) => {
    expect(() => oauthConfig(texts, {})).toThrow(ConfigError)
    expect(() => oauthConfig(texts, {})).toThrow(message)
  })
})
