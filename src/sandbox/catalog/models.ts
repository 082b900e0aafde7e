import type { ModelCatalog } from '../../contract/provider.ts'

const model = (
  id: string,
  name: string,
  [intelligence, latency]: [number, number],
  more: { description: string; recommended?: boolean; costPerMinute: number; tier: string },
): ModelCatalog[number]['models'][number] => ({
  id,
  name,
  description: more.description,
  recommended: more.recommended ?? false,
  intelligence_rating: intelligence,
  latency_rating: latency,
  latency_range: { min_ms: 1300 - latency * 220, max_ms: 2400 - latency * 350 },
  pricing: { tier: more.tier, additional_cost_per_minute: more.costPerMinute },
  settings: {
    temperature: { min: 0, max: 2, default: 0.7 },
    max_tokens: { min: 1, max: 4096, default: 512 },
  },
})

const fast = { tier: 'basic', costPerMinute: 0 }
const standard = { tier: 'standard', costPerMinute: 0.01 }
const premium = { tier: 'premium', costPerMinute: 0.04 }

/** Language models of the sandbox: enough to choose from, not a mirror of the real catalog. */
export const models: ModelCatalog = [
  {
    provider: { code: 'openai', name: 'OpenAI', eu_hosted: false },
    models: [
      model('gpt-4.1', 'GPT-4.1', [4, 3], {
        ...standard,
        description: 'Balanced default.',
        recommended: true,
      }),
      model('gpt-4.1-mini', 'GPT-4.1 mini', [3, 4], { ...fast, description: 'Quick and cheap.' }),
      model('gpt-5-mini', 'GPT-5 mini', [4, 3], {
        ...standard,
        description: 'Small, and careful.',
      }),
      model('gpt-4o', 'GPT-4o', [4, 3], { ...standard, description: 'General purpose.' }),
      model('gpt-4o-mini', 'GPT-4o mini', [3, 4], { ...fast, description: 'Small and quick.' }),
    ],
  },
  {
    provider: { code: 'azure_openai', name: 'Azure OpenAI', eu_hosted: true },
    models: [
      model('gpt-5-mini', 'GPT-5 mini (EU)', [4, 3], {
        ...standard,
        description: 'Small and careful, hosted in the EU.',
      }),
      model('gpt-4.1', 'GPT-4.1 (EU)', [4, 3], { ...standard, description: 'Hosted in the EU.' }),
      model('gpt-4o-mini', 'GPT-4o mini (EU)', [3, 4], {
        ...fast,
        description: 'Small and quick, hosted in the EU.',
      }),
    ],
  },
  {
    provider: { code: 'anthropic', name: 'Anthropic', eu_hosted: false },
    models: [
      model('claude-sonnet-4-5', 'Claude Sonnet 4.5', [5, 2], {
        ...premium,
        description: 'Careful with long instructions.',
      }),
      model('claude-haiku-4-5', 'Claude Haiku 4.5', [4, 4], {
        ...standard,
        description: 'Quick answers.',
        recommended: true,
      }),
    ],
  },
  {
    provider: { code: 'groq', name: 'Groq', eu_hosted: false },
    models: [
      model('llama-3.3-70b-versatile', 'Llama 3.3 70B', [3, 5], {
        ...fast,
        description: 'Open weights on fast inference.',
      }),
    ],
  },
  {
    provider: { code: 'custom', name: 'OpenAI-compatible endpoint', eu_hosted: null },
    models: [
      {
        id: 'custom',
        name: 'Your own endpoint',
        description: 'Any endpoint that speaks the OpenAI chat completions protocol.',
        recommended: false,
        intelligence_rating: null,
        latency_rating: null,
        latency_range: null,
        pricing: null,
        settings: null,
      },
    ],
  },
]
