import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { usualServerName } from '../../cli/config/install.ts'
import { installOptions, manifestOptions, optionVariables } from './install-options.ts'
import { type PackageInfo, root } from './package-info.ts'

/*
 * The plugin for assistants that work in a terminal: a folder with the server and the skill, to be
 * published as a repository. Each manifest is where its client looks for it.
 */

/** The name of the plugin and of its server: the same as `install` writes. */
const name = usualServerName

/** The package of this version. */
const launch = ({ name: id, version }: PackageInfo) => ({
  command: 'npx',
  args: ['-y', `${id}@${version}`],
})

/** Writes the plugin into a folder, in place of what is there. */
export function writePlugin(info: PackageInfo, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  const manifests = {
    '.claude-plugin/plugin.json': claudePlugin(info),
    '.claude-plugin/marketplace.json': claudeMarketplace(info),
    'gemini-extension.json': geminiExtension(info),
    'plugin.json': agentPlugin(info),
    'mcp.json': agentPluginServers(info),
  }
  for (const [file, manifest] of Object.entries(manifests)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), `${JSON.stringify(manifest, undefined, 2)}\n`)
  }
  cpSync(join(root, 'docs/skills/voice-agent'), join(folder, 'skills/voice-agent'), {
    recursive: true,
  })
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

/** Lets the plugin's repository be added as a marketplace with one plugin: itself. */
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
 * Its server. The format has no place for a key, so the server has what the client's environment has.
 */
const agentPluginServers = (info: PackageInfo) => ({
  $schema: agentPluginSchema('mcp'),
  mcpServers: { [name]: { type: 'stdio', ...launch(info), cwd: `\${PLUGIN_DATA}` } },
})
