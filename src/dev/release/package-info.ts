import { readFileSync } from 'node:fs'
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
export interface Repository {
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
