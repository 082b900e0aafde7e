import { usualServerName } from '../../config/install.ts'
import { installOptions, manifestOptions, optionVariables } from '../release/install-options.ts'
import { type PackageInfo, readPackage, root } from '../release/package-info.ts'

/*
 * Plugins for assistants that work in a terminal: the repository is one, with the server and the skill in
 * skills/. Each manifest is where its client looks for it.
 */

/** The name of the plugin and of its server: the same as `install` writes. */
const name = usualServerName

/** The package of this version; a clone has no program that is built. */
const launch = ({ name: id, version }: PackageInfo) => ({
  command: 'npx',
  args: ['-y', `${id}@${version}`],
})

/** The manifests by their files, as JSON text. */
export function pluginManifests(): Readonly<Record<string, string>> {
  const info = readPackage(root)
  return Object.fromEntries(
    Object.entries({
      '.claude-plugin/plugin.json': claudePlugin(info),
      '.claude-plugin/marketplace.json': claudeMarketplace(info),
      'gemini-extension.json': geminiExtension(info),
      'plugin.json': agentPlugin(info),
      'mcp.json': agentPluginServers(info),
    }).map(([file, manifest]) => [file, `${JSON.stringify(manifest, undefined, 2)}\n`]),
  )
}

/** For Claude Code, which asks for the options when the plugin is enabled. */
function claudePlugin(info: PackageInfo) {
  const { version, description, author, license, keywords, repository } = info
  return {
    ...{ name, version, description, author: { name: author }, license, keywords },
    ...(repository && { repository: repository.url }),
    userConfig: Object.fromEntries(
      // One that is left empty is not given.
      Object.entries(manifestOptions).map(([key, option]) => [
        key,
        { ...option, default: option.default ?? '' },
      ]),
    ),
    mcpServers: {
      [name]: {
        ...launch(info),
        env: optionVariables,
      },
    },
  }
}

/** Lets the repository be added as a marketplace with one plugin: itself. */
const claudeMarketplace = ({ author, description }: PackageInfo) => ({
  name: 'voice-agent-mcp',
  owner: { name: author },
  description,
  plugins: [{ name, source: './', description }],
})

/** For Gemini CLI, which asks for the settings when the extension is installed. */
const geminiExtension = (info: PackageInfo) => ({
  name,
  version: info.version,
  description: info.description,
  mcpServers: { [name]: launch(info) },
  settings: Object.values(installOptions).map(({ title, description, variable, sensitive }) => ({
    name: title,
    description,
    envVar: variable,
    ...(sensitive && { sensitive }),
  })),
})

/** The identifier of a schema of Agent Plugins, the format that several clients share. */
const agentPluginSchema = (file: 'plugin' | 'mcp') =>
  `https://agent-plugins.org/schemas/1.0.0/${file}.schema.json`

/** For clients that read Agent Plugins 1.0: no other fields are allowed in it. */
const agentPlugin = ({
  version,
  description,
  author,
  license,
  keywords,
  repository,
}: PackageInfo) => ({
  $schema: agentPluginSchema('plugin'),
  ...{ name, version, description, author: { name: author }, license, keywords },
  ...(repository && { repository: repository.url }),
})

/**
 * Its server. The format has no place for a key, so the server has what the client's environment has. In the
 * folder of the plugin npx would look for the program of this very package, which is not built there.
 */
const agentPluginServers = (info: PackageInfo) => ({
  $schema: agentPluginSchema('mcp'),
  mcpServers: { [name]: { type: 'stdio', ...launch(info), cwd: `\${PLUGIN_DATA}` } },
})
