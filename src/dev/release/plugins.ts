import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { usualServerName } from '../../cli/commands/install.ts'
import { installOptions, manifestOptions, optionVariables } from './install-options.ts'
import { type PackageInfo, root } from './package-info.ts'

/*
 * The plugin for terminal assistants: a folder with the server and the skill, to be published as a
 * repository. Each manifest is at the path that its client expects.
 */

/** Name of the plugin and of its server, as in `install`. */
const name = usualServerName

/** Launch command of this version's package. */
const launch = ({ name: id, version }: PackageInfo) => ({
  command: 'npx',
  args: ['-y', `${id}@${version}`],
})

/** Writes the plugin into a folder, replacing its contents. */
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
  const skill = join(folder, 'skills/voice-agent/SKILL.md')
  writeFileSync(skill, skillOfPackage(readFileSync(skill, 'utf8'), info))
}

/** The skill for people without a clone: the program comes from this version's package. */
function skillOfPackage(text: string, info: PackageInfo): string {
  const { command, args } = launch(info)
  const ofClone = /^`CLONE\/.*$/m
  if (!ofClone.test(text)) throw new Error('The skill does not say what to run in a clone.')
  return text.replace(ofClone, `\`${[command, ...args].join(' ')}\` in its place.`)
}

/** Fields that the manifests of Claude Code and of Agent Plugins share. */
const facts = ({ version, description, author, license, keywords, repository }: PackageInfo) => ({
  ...{ name, version, description, author: { name: author }, license, keywords },
  ...(repository && { repository: repository.url }),
})

/** For Claude Code, which asks for the options when the plugin is enabled. */
const claudePlugin = (info: PackageInfo) => ({
  ...facts(info),
  userConfig: Object.fromEntries(
    // An empty answer counts as not given.
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
})

/** Makes the plugin's repository a marketplace with this one plugin. */
const claudeMarketplace = ({ author, description }: PackageInfo) => ({
  name: 'voice-agent-mcp',
  owner: { name: author },
  description,
  plugins: [{ name, source: './', description }],
})

/** For Gemini CLI, which asks for the settings on installation. */
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

/** Schema id of Agent Plugins, a format that several clients share. */
const agentPluginSchema = (file: 'plugin' | 'mcp') =>
  `https://agent-plugins.org/schemas/1.0.0/${file}.schema.json`

/** For clients of Agent Plugins 1.0, which allows no other fields. */
const agentPlugin = (info: PackageInfo) => ({
  $schema: agentPluginSchema('plugin'),
  ...facts(info),
})

/**
 * The plugin's server. The format has no place for a key, so the server uses the client's
 * environment.
 */
const agentPluginServers = (info: PackageInfo) => ({
  $schema: agentPluginSchema('mcp'),
  mcpServers: { [name]: { type: 'stdio', ...launch(info), cwd: `\${PLUGIN_DATA}` } },
})
