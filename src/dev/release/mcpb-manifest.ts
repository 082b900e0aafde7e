import { tools } from '../../../tools/index.ts'
import { firstSentence } from '../docs/markdown.ts'
import { manifestOptions, optionVariables } from './install-options.ts'
import type { PackageInfo } from './package-info.ts'

/** The file that the server of a desktop bundle starts with. */
export const entryPoint = 'dist/voice-agent-mcp.js'

/** The manifest of the desktop bundle (MCPB, version 0.3 of its specification). */
export function mcpbManifest(info: PackageInfo): Record<string, unknown> {
  const { name, version, description, author, license, keywords, engines, repository } = info
  return {
    manifest_version: '0.3',
    name,
    display_name: 'Voice agents',
    version,
    description,
    author: { name: author },
    ...(repository && {
      repository: { type: 'git', url: `${repository.url}.git` },
      homepage: repository.url,
      support: `${repository.url}/issues`,
    }),
    license,
    keywords,
    icon: 'icon.png',
    server: {
      type: 'node',
      entry_point: entryPoint,
      mcp_config: {
        command: 'node',
        args: [`\${__dirname}/${entryPoint}`],
        env: optionVariables,
      },
    },
    tools: tools.map((tool) => ({
      name: tool.name,
      description: `${firstSentence(tool.description)}.`,
    })),
    // Their texts depend on the account.
    prompts_generated: true,
    compatibility: {
      platforms: ['darwin', 'win32', 'linux'],
      runtimes: { node: engines.node },
    },
    user_config: manifestOptions,
  }
}
