import { readFile } from 'node:fs/promises'
import { type Plugin, transform } from 'esbuild'

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
