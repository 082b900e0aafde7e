import { capitalised } from '../../../text/labels.ts'

/** Display names of providers, by code. */
const providers: Readonly<Record<string, string>> = {
  anthropic: 'Anthropic',
  assemblyai: 'AssemblyAI',
  aws: 'AWS',
  azure: 'Azure',
  cartesia: 'Cartesia',
  deepgram: 'Deepgram',
  elevenlabs: 'ElevenLabs',
  gladia: 'Gladia',
  google: 'Google',
  groq: 'Groq',
  mistral: 'Mistral',
  openai: 'OpenAI',
  speechmatics: 'Speechmatics',
  xai: 'xAI',
}

/** Name of a provider; an unknown code is returned unchanged. */
export const providerName = (code: string): string =>
  Object.hasOwn(providers, code) ? (providers[code] ?? code) : code

/**
 * Display name of a model: `GPT-4.1 mini` for `gpt-4.1-mini`, `Claude Sonnet 4.5` for
 * `claude-sonnet-4-5`. `dateOf` formats the date of a version, which is ISO 8601. A code of another
 * form is returned unchanged.
 */
export function modelName(code: string, dateOf: (iso: string) => string): string {
  if (!/^[a-z][a-z0-9.]*([-:][a-z0-9.]+)+$/.test(code)) return code
  const [, base = '', date] = /^(.+?)(?:-(\d{8}|\d{4}-\d\d-\d\d))?$/.exec(code) ?? []
  const [first = '', ...words] = base.replace(/(?<=-\d)-(?=\d(-|$))/g, '.').split(/[-:]/)
  const name =
    first === 'gpt'
      ? [`GPT-${words[0] ?? ''}`, ...words.slice(1)]
      : [first, ...words].map(capitalised)
  const version = date && dateOf(date.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3'))
  return version ? `${name.join(' ')}, ${version}` : name.join(' ')
}

/**
 * Display name of a voice whose id contains its name: `Seraphina (multilingual)` for
 * `de-DE-SeraphinaMultilingualNeural`. An id of another form is returned unchanged.
 */
export function voiceName(id: string): string {
  const form = /^[a-z]{2,3}(?:-\w+)+-(\p{Lu}\p{L}+?)(Multilingual)?(?:Neural|Turbo|HD)+$/u
  const [, name, isMultilingual] = form.exec(id) ?? []
  return name === undefined ? id : isMultilingual ? `${name} (multilingual)` : name
}
