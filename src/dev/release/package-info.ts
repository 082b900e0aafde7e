import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

/*
 * package.json is the single source of the version and the repository's URL; the desktop bundle,
 * the MCP registry entry and the links derive from it.
 */

export const root = join(import.meta.dirname, '../../..')

/** An exact version in the form of npm and the MCP registry. */
const versionPattern = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/

/** A server name for the MCP registry; it begins with a reversed domain or `io.github.USER`. */
const mcpNamePattern = /^[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+\/[a-zA-Z0-9._-]+$/

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

/** Parsed package.json. */
export interface PackageInfo extends Omit<z.output<typeof PackageJson>, 'repository'> {
  /** `undefined` if no URL is set. */
  readonly repository: Repository | undefined
}

/** The source repository, for people. */
interface Repository {
  /** Without `.git`, such as `https://github.com/OWNER/REPOSITORY`. */
  readonly url: string
  /** The host, if the MCP registry knows it. */
  readonly source: 'github' | 'gitlab' | undefined
}

/** Reads a folder's package.json. Throws if a field is missing or malformed. */
export function readPackage(folder: string): PackageInfo {
  const text = readFileSync(join(folder, 'package.json'), 'utf8')
  const { repository, ...others } = PackageJson.parse(JSON.parse(text))
  return { ...others, repository: repository && repositoryAt(repository.url) }
}

/** Parses a repository URL in npm's or Git's form. Throws unless it is https. */
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
 * Download URL of a release's file; `undefined` unless the repository is on GitHub or GitLab, the only
 * hosts that the MCP registry accepts.
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

/** SHA-256 of a file, hexadecimal. */
export const sha256Of = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex')
