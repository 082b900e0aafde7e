import { read } from './documents.ts'

/** An instruction of the Dockerfile, with continuation lines joined. */
export interface Instruction {
  readonly name: string
  readonly text: string
}

const text = read('Dockerfile')

const instructions: readonly Instruction[] = text
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .flatMap((line) => {
    const [, name, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    return name !== undefined && rest !== undefined ? [{ name, text: rest }] : []
  })

const lastStage = instructions.findLastIndex(({ name }) => name === 'FROM')

/** Instructions of the build stage, and of the final image. */
export const buildStage = instructions.slice(0, lastStage)
export const imageStage = instructions.slice(lastStage)

/** Text of the image's only instruction with this name. */
export function imageText(wanted: string): string {
  const [only, ...more] = imageStage.filter(({ name }) => name === wanted)
  if (!only || more.length > 0) throw new Error(`not one ${wanted} in the Dockerfile`)
  return only.text
}

/** Arguments of an instruction in JSON form. */
export const argumentsOf = (name: string): string[] => JSON.parse(imageText(name))

/** Environment variables of the image, with another folder for /data. */
export const imageEnvironment = (data = '/data'): Record<string, string> =>
  Object.fromEntries(
    [...imageText('ENV').matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map(
      ([, name = '', quoted, bare = '']) => [name, (quoted ?? bare).replace('/data', data)],
    ),
  )

/** The image's command, with a free port. */
export const imageCommand = (): string[] =>
  argumentsOf('CMD').map((argument) => (argument === '3000' ? '0' : argument))
