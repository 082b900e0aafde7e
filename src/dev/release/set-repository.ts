import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mcpNamePattern, type Repository, repositoryAt } from './package-info.ts'

/**
 * Writes the address of the repository into package.json of a folder, and all that follows from it: npm
 * compares `repository` with where a package with provenance was built, and the MCP registry compares
 * `mcpName` with the name in server.json. Throws where the address or the name cannot be used.
 */
export function setRepository(folder: string, address: string, mcpName?: string): void {
  const file = join(folder, 'package.json')
  const { type, ...before }: Record<string, unknown> = JSON.parse(readFileSync(file, 'utf8'))
  const repository = repositoryAt(address)
  const name = mcpName ?? nameOnGitHub(repository, String(before.name))
  if (!mcpNamePattern.test(name)) {
    throw new Error(
      `${name} is not a name in the MCP registry, such as com.your-company/${before.name}.`,
    )
  }
  const { url } = repository
  const changed = {
    ...before,
    mcpName: name,
    repository: { type: 'git', url: `git+${url}.git` },
    homepage: `${url}#readme`,
    bugs: `${url}/issues`,
    type,
  }
  // New fields stand after the description, where a reader looks for them.
  const order = ['name', 'version', 'mcpName', 'description', 'keywords', 'license', 'author']
  const first = [...order, 'repository', 'homepage', 'bugs', 'type']
  const fields = Object.entries(changed).toSorted(([a], [b]) => place(first, a) - place(first, b))
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(fields), undefined, 2)}\n`)
}

const place = (first: readonly string[], name: string) =>
  first.includes(name) ? first.indexOf(name) : first.length

/** The name that belongs to an account of GitHub. Elsewhere it is a domain's, which we cannot know. */
function nameOnGitHub({ url, source }: Repository, name: string): string {
  const [, owner] = /^https:\/\/github\.com\/([^/]+)\/[^/]+$/.exec(url) ?? []
  if (source === 'github' && owner !== undefined) return `io.github.${owner}/${name}`
  throw new Error(
    `Give --mcp-name, too: for a repository that is not on GitHub, the MCP registry takes the name of a domain of yours, reversed, such as com.your-company/${name}.`,
  )
}
