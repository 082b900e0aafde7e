import { read } from './documents.ts'

/** An instruction of the Dockerfile; lines that are continued are one. */
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

/** What is done in the stage that builds, and in the image. */
export const buildStage = instructions.slice(0, lastStage)
export const imageStage = instructions.slice(lastStage)

/** The text of the one instruction of the image with this name. */
export function imageText(wanted: string): string {
  const [only, ...more] = imageStage.filter(({ name }) => name === wanted)
  if (!only || more.length > 0) throw new Error(`not one ${wanted} in the Dockerfile`)
  return only.text
}

/** The arguments of an instruction that is written as a JSON array. */
export const argumentsOf = (name: string): string[] => JSON.parse(imageText(name))

/** The environment that the image sets, with another folder for /data. */
export const imageEnvironment = (data = '/data'): Record<string, string> =>
  Object.fromEntries(
    [...imageText('ENV').matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map(
      ([, name = '', quoted, bare = '']) => [name, (quoted ?? bare).replace('/data', data)],
    ),
  )

/** What the image starts, on a free port. */
export const imageCommand = (): string[] =>
  argumentsOf('CMD').map((argument) => (argument === '3000' ? '0' : argument))
