/** Voice providers that are known [R]; their catalog is asked by provider, so nothing lists them. */
export const voiceProviders: readonly string[] = ['elevenlabs', 'cartesia', 'azure']
