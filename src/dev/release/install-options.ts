/** A setting that a client asks for. */
interface InstallOption {
  readonly variable: string
  readonly type: 'string' | 'boolean' | 'file'
  readonly title: string
  readonly description: string
  readonly sensitive?: boolean
  readonly default?: boolean
}

/**
 * Settings that a client asks for when it installs the desktop bundle or the registry's package.
 * All others belong in a configuration file, also the dial policy: an empty policy is an error, but
 * an empty answer counts as not given.
 */
export const installOptions: Readonly<Record<string, InstallOption>> = {
  base_url: {
    variable: 'VOICE_AGENT_BASE_URL',
    type: 'string',
    title: 'Platform URL',
    description:
      'Leave URL and key empty to try the server on its built-in sandbox, where nothing is dialled. Example: https://api.your-platform.example',
  },
  api_key: {
    variable: 'VOICE_AGENT_API_KEY',
    type: 'string',
    title: 'API key',
    description: 'Your API key of the platform. It is sent only to the platform URL.',
    sensitive: true,
  },
  account: {
    variable: 'VOICE_AGENT_ACCOUNT',
    type: 'string',
    title: 'Account',
    description:
      'Id of the only account or subaccount that the tools act on. Leave it empty to use all accounts of the key.',
  },
  read_only: {
    variable: 'VOICE_AGENT_READ_ONLY',
    type: 'boolean',
    title: 'Read-only',
    description: 'Offer only tools that read: no calls, and no changes.',
    default: false,
  },
  config_file: {
    variable: 'VOICE_AGENT_CONFIG',
    type: 'file',
    title: 'Configuration file',
    description:
      'JSON file with all other settings, such as a dial policy. Leave it empty if there is none.',
  },
}

const options = Object.entries(installOptions)

/** Environment variables of the options. Clients replace the placeholders with a user's answers. */
export const optionVariables = Object.fromEntries(
  options.map(([key, { variable }]) => [variable, `\${user_config.${key}}`]),
)

/** Options in the manifests' form, by key. */
export const manifestOptions = Object.fromEntries(
  options.map(([key, { variable: _, ...option }]) => [key, { ...option, required: false }]),
)
