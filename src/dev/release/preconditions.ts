import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { downloadUrl, type PackageInfo, root } from './package-info.ts'
import type { Outcome, Step } from './steps.ts'

/** The conditions that a release must meet before its artifacts are built. */
export const preconditions = (info: PackageInfo): Step[] => [
  {
    title: 'Changes of this version',
    run: () => changes(info.version, readFileSync(join(root, 'CHANGELOG.md'), 'utf8')),
  },
  { title: 'Repository', run: () => repositorySet(info) },
  { title: 'Working tree', run: () => workingTree(git('status', '--porcelain')) },
  {
    title: 'Tag',
    run: () =>
      tag(
        info.version,
        git('rev-parse', 'HEAD'),
        git('tag', '--list', '--format=%(refname:short) %(objectname) %(*objectname)'),
      ),
  },
]

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trimEnd()

/** The changelog has a non-empty section for the version. */
export function changes(version: string, changelog: string): Outcome {
  const sections = changelog.split(/^## /m).slice(1)
  const own = sections.find(
    (section) => section.split(/[^\w.[\]-]/)[0]?.replace(/^\[|\]$/g, '') === version,
  )
  const [, ...lines] = own?.split('\n') ?? []
  if (lines.some((line) => line.trim() !== ''))
    return { state: 'done', text: `${version}, as in CHANGELOG.md` }
  return {
    state: 'open',
    text: `CHANGELOG.md has no section "## ${version}": give "## Unreleased" this name, and the date`,
  }
}

/** The repository is set; npm, the registry and the links need it. */
export function repositorySet(info: PackageInfo): Outcome {
  const { repository, mcpName } = info
  if (!repository || mcpName === undefined) {
    return {
      state: 'open',
      text: 'package.json has none. Set it once: docs/releasing.md',
    }
  }
  const isElsewhere = downloadUrl(info, 'a.mcpb') === undefined
  const only = isElsewhere
    ? '; the registry accepts no downloads from this host, so its entry has no bundle'
    : ''
  return { state: 'done', text: `${repository.url}, in the registry ${mcpName}${only}` }
}

/** The working tree is clean. `status`: Git's porcelain output. */
export const workingTree = (status: string): Outcome =>
  status === ''
    ? { state: 'done', text: 'everything is committed' }
    : { state: 'open', text: `commit these changes first:\n${status}` }

/**
 * The version has no tag yet, or its tag is this commit, `head`. `tags`: name, object and commit of
 * each tag, one tag per line.
 */
export function tag(version: string, head: string, tags: string): Outcome {
  const name = `v${version}`
  const own = tags.split('\n').find((line) => line.split(' ')[0] === name)
  if (own === undefined) return { state: 'done', text: `${name} does not exist yet` }
  if (own.split(' ').includes(head)) return { state: 'done', text: `${name} is this commit` }
  return { state: 'open', text: `${name} is another commit: give package.json the next version` }
}
