import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'

/**
 * An esbuild plugin that puts other contents in the place of modules, named by their paths below
 * `root`. The build fails when one of them does not exist or is not part of the bundle: without that
 * a module that was moved would go in as it is.
 */
export function replaceModules(root: string, contents: Readonly<Record<string, string>>): Plugin {
  const byPath = new Map(Object.entries(contents).map(([path, text]) => [join(root, path), text]))
  return {
    name: 'replace-modules',
    setup({ onLoad, onEnd }) {
      const replaced = new Set<string>()
      onLoad({ filter: /\.(?:[cm]?[jt]s|json)$/ }, ({ path }) => {
        const text = byPath.get(path)
        if (text === undefined) return undefined
        replaced.add(path)
        return { contents: text, loader: path.endsWith('.json') ? 'json' : 'js' }
      })
      onEnd(() => ({
        errors: [...byPath.keys()]
          .filter((path) => !replaced.has(path))
          .map((path) => ({
            text: existsSync(path)
              ? `${path} was to be replaced, but nothing in the bundle imports it`
              : `${path} was to be replaced, but there is no such file`,
          })),
      }))
    },
  }
}
