import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Plugin, transform } from 'esbuild'

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

/**
 * Keeps the names of classes in a package, which the bundle would shorten: some libraries work with
 * them. oidc-provider keeps its records by the names of its models.
 */
export const keepClassNames = (packageName: string): Plugin => ({
  name: 'keep-class-names',
  setup({ onLoad }) {
    const inPackage = new RegExp(`[\\\\/]node_modules[\\\\/]${packageName}[\\\\/].*\\.js$`)
    onLoad({ filter: inPackage }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      const { code } = await transform(source, { keepNames: true, sourcefile: path })
      return { contents: code, loader: 'js' }
    })
  },
})

/**
 * Keeps everything that a start loads in one part: it imports `main` into each module that is loaded
 * later. esbuild makes a part for each set of such modules that share something, and a start would
 * open all those parts. `main` is loaded before them in any case; so are the modules `before`, which
 * import nothing of it.
 */
export const oneStartPart = (root: string, main: string, before: readonly string[]): Plugin => ({
  name: 'one-start-part',
  setup({ onResolve, onLoad }) {
    const early = [main, ...before].map((path) => join(root, path))
    onResolve({ filter: /^\..*\.ts$/ }, ({ kind, resolveDir, path }) => {
      const file = join(resolveDir, path)
      return kind === 'dynamic-import' && !early.includes(file)
        ? { path: file, namespace: 'late' }
        : undefined
    })
    onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => ({
      contents: `import ${JSON.stringify(join(root, main))}\nexport * from ${JSON.stringify(path)}`,
      resolveDir: dirname(path),
    }))
  },
})
