import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

/*
 * package.json is the one place of the version, and of the address of the repository: the desktop bundle, the
 * entry in the MCP registry and the links are made of it.
 */

export const root = join(import.meta.dirname, '../../..')

/** An exact version, as npm and the MCP registry take it. */
export const versionPattern = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/

/** What may begin the name of a server in the MCP registry: a domain or `io.github.USER`, reversed. */
export const mcpNamePattern = /^[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+\/[a-zA-Z0-9._-]+$/

const PackageJson = z.object({
  name: z.string(),
  version: z.string().regex(versionPattern),
  description: z.string(),
  author: z.string(),
  license: z.string(),
  keywords: z.array(z.string()),
  engines: z.object({ node: z.string() }),
  repository: z.object({ type: z.literal('git'), url: z.string() }).optional(),
  mcpName: z.string().regex(mcpNamePattern).optional(),
})

/** The package, as its package.json describes it. */
export interface PackageInfo extends Omit<z.output<typeof PackageJson>, 'repository'> {
  /** `undefined`: no address is set yet. */
  readonly repository: Repository | undefined
}

/** Where the source is, for people. */
interface Repository {
  /** Without `.git`, such as `https://github.com/OWNER/REPOSITORY`. */
  readonly url: string
  /** Hosts that the MCP registry knows. */
  readonly source: 'github' | 'gitlab' | undefined
}

/** Reads package.json of a folder. Throws where a field is missing or malformed. */
export function readPackage(folder: string): PackageInfo {
  const text = readFileSync(join(folder, 'package.json'), 'utf8')
  const { repository, ...others } = PackageJson.parse(JSON.parse(text))
  return { ...others, repository: repository && repositoryAt(repository.url) }
}

/** The repository at an address, as npm and Git write it. Throws where it is not https. */
export function repositoryAt(given: string): Repository {
  const url = URL.parse(given.replace(/^git\+/, ''))
  const path = url?.pathname.replace(/(?:\.git)?\/*$/, '') ?? ''
  if (
    url?.protocol !== 'https:' ||
    url.username ||
    url.search ||
    !/^(?:\/[\w.-]+){2,}$/.test(path)
  ) {
    throw new Error(`${given} is not the address of a repository: https://HOST/OWNER/REPOSITORY.`)
  }
  const known = { 'github.com': 'github', 'gitlab.com': 'gitlab' } as const
  const source = Object.entries(known).find(([host]) => host === url.host)?.[1]
  return { url: `https://${url.host}${path}`, source }
}

/**
 * Where a file of a release is downloaded. `undefined` where the MCP registry accepts no downloads from:
 * it takes those of GitHub and GitLab only.
 */
export function downloadUrl(
  { repository, version }: PackageInfo,
  file: string,
): string | undefined {
  if (repository?.source === 'github') {
    return `${repository.url}/releases/download/v${version}/${file}`
  }
  if (repository?.source === 'gitlab') {
    return `${repository.url}/-/releases/v${version}/downloads/${file}`
  }
  return undefined
}

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

/** The SHA-256 of a file, in hexadecimal digits. */
export const sha256Of = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex')
