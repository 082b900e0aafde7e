/** Language model, transcriber and voice of an agent where nothing else is wanted. */
export const defaultSpeech = (language: string, voiceId: string) => ({
  model: { provider: 'openai', model: 'gpt-4.1', temperature: 0.7, max_tokens: 512 },
  transcriber: { provider: 'deepgram', model: 'nova-2', languages: [language] },
  voice: { provider: 'elevenlabs', voice_id: voiceId, language },
})
