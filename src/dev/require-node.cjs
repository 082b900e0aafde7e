'use strict'

/*
 * Run before the scripts that newcomers use: an old Node would end with a stack trace, because it
 * cannot read TypeScript. It must run on any Node, so it uses nothing new.
 */

const [major, minor] = process.versions.node.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    [
      `This needs Node.js 22.19 or newer; this is ${process.versions.node}.`,
      '"npm ci" brings a current one along, unless install scripts are off (--ignore-scripts).',
      'Add it with: npm rebuild node --ignore-scripts=false',
      'or install Node.js 22.19 or newer.',
      '',
    ].join('\n'),
  )
  process.exit(1)
}
