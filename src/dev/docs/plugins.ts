import { installOptions } from '../release/install-options.ts'
import { type PackageInfo, readPackage, root } from '../release/package-info.ts'

/*
 * Plugins for assistants that work in a terminal: the repository is one, with the server and the skill in
 * skills/. Each manifest is where its client looks for it.
 */

/** The name of the plugin and of its server: the same as `install` writes. */
const name = 'voice-agents'

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
    }).map(([file, manifest]) => [file, `${JSON.stringify(manifest, undefined, 2)}\n`]),
  )
}

/** For Claude Code, which asks for the options when the plugin is enabled. */
function claudePlugin(info: PackageInfo) {
  const { version, description, author, license, keywords, repository } = info
  const options = Object.entries(installOptions)
  return {
    ...{ name, version, description, author: { name: author }, license, keywords },
    ...(repository && { repository: repository.url }),
    userConfig: Object.fromEntries(
      options.map(([key, { variable: _, ...option }]) => [
        key,
        // One that is left empty is not given.
        { ...option, required: false, default: option.default ?? '' },
      ]),
    ),
    mcpServers: {
      [name]: {
        ...launch(info),
        env: Object.fromEntries(
          options.map(([key, { variable }]) => [variable, `\${user_config.${key}}`]),
        ),
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
