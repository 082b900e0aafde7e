'use strict'

/*
 * Run before the scripts that newcomers use: an old Node.js, or a clone whose packages are not
 * installed, would end with a stack trace. It must run on any Node.js, so it uses nothing new.
 */

const { existsSync } = require('node:fs')
const { join } = require('node:path')

const [major, minor] = process.versions.node.split('.').map(Number)
const isOld = major < 22 || (major === 22 && minor < 19)
const packages = join(__dirname, '../../node_modules')
const bundled = join(packages, 'node/bin', process.platform === 'win32' ? 'node.exe' : 'node')
const isInstalled = existsSync(join(packages, 'esbuild'))

if (isOld || !isInstalled) {
  const { npm_lifecycle_event: script } = process.env
  // `npm start` and `npm run sandbox` pass a command before the user's arguments.
  const args = process.argv.slice(/^(start|sandbox)$/.test(script) ? 3 : 2)
  const run = /^(start|test)$/.test(script) ? `npm ${script}` : `npm run ${script}`
  const again = [script ? run : 'npm start', ...(args.length > 0 ? ['--', ...args] : [])].join(' ')
  const missing = existsSync(bundled) ? '' : 'npm rebuild node --ignore-scripts=false && '
  process.stderr.write(
    [
      isOld && `This needs Node.js 22.19 or newer; this is ${process.versions.node}.`,
      !isInstalled && 'The packages are not installed.',
      // npm ci brings a current Node.js along, unless install scripts are off.
      `Run: ${isInstalled ? missing : 'npm ci && '}${again}`,
      '',
    ]
      .filter((line) => line !== false)
      .join('\n'),
  )
  process.exit(1)
}
