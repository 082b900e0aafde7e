import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'esbuild'
import { inline } from '../apps/pages/page.ts'
import { viewNames, viewTitles } from '../apps/views.ts'

/**
 * Builds each view as one HTML file: its style and its script are in it, and its policy allows these
 * two alone. The files are stored compressed, which takes less room than scripts that they share
 * would. Returns the paths of all files that are in them.
 */
export async function buildViews(root: string, folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true })
  const inputs = await Promise.all(
    viewNames.map(async (name) => {
      const { script, style, files } = await bundled(root, name)
      const html = pageOf({ title: viewTitles[name].title, script, style })
      writeFileSync(join(folder, `${name}.html.br`), compressed(html))
      return files
    }),
  )
  return [...new Set(inputs.flat())]
}

async function bundled(root: string, name: string) {
  const folder = join('src/apps/browser', name)
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(folder, 'view.ts'), join(folder, 'view.css')],
    outdir: 'out',
    bundle: true,
    write: false,
    metafile: true,
    format: 'iife',
    platform: 'browser',
    // Browsers that know light-dark().
    target: ['chrome123', 'firefox120', 'safari17.5'],
    minify: true,
    legalComments: 'none',
  })
  const textOf = (ending: string) =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? ''
  // A file of which esbuild uses nothing needs no licence.
  const files = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [file] : [],
    ),
  )
  return { script: textOf('.js'), style: textOf('.css'), files }
}

function pageOf({ title, script, style }: { title: string; script: string; style: string }) {
  if (/<\/(script|style)/i.test(script + style))
    throw new Error(`The style or script of the view ${title} holds its own end tag`)
  const policy = [
    "default-src 'none'",
    `script-src ${inline(script).source}`,
    `style-src ${inline(style).source}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<script>${script}</script>
</body>
</html>
`
}

const compressed = (text: string) =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })
