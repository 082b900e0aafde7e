import type { Inspection } from '../../../service/inspection.ts'
import { type Check, type Finding, green } from '../check.ts'
import { failedStage } from '../failed-stage.ts'
import { checkNamed, seeOther } from '../platform-check-names.ts'
import type { PlatformSession } from '../platform-session.ts'
import { type Difference, differences } from './differences.ts'
import { operationsIn } from './operations.ts'

/** Where the platform describes its API [B]. */
const documentPath = '/v1/openapi.json'

/** The platform's own description of its API, compared with the one that this program speaks. */
export const contractCheck = (session: PlatformSession, inspection: Inspection): Check =>
  checkNamed('contract', async () => {
    const stage = await failedStage(session, inspection)
    if (stage !== undefined) return seeOther(stage)
    const { value, failure } = await session.get(documentPath)
    if (!value) return unread(failure ? inspection.failureText(failure) : 'there is none')
    if (value.status !== 200) return unread(`the platform answers HTTP ${value.status}`)
    const theirs = operationsIn(parsed(value.body))
    if (!theirs) return unread('it is not an OpenAPI document')
    const ours = operationsIn(await inspection.contractDocument()) ?? new Map()
    if (![...ours.keys()].some((key) => theirs.has(key)))
      return unread('it describes another API than the one that answers')
    const found = differences(ours, theirs, {
      toolsOf: inspection.toolsOf,
      closest: inspection.closestWord,
    })
    return finding(found, ours.size)
  })

const unread = (reason: string): Finding => ({
  light: 'yellow',
  text: `${documentPath} cannot be compared: ${reason}.`,
  todo: 'Tools may work all the same. If one fails in an unexpected way, compare the API by hand.',
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return undefined
  }
}

const signs = { red: '!!', yellow: '!', green: '' } as const

function finding(found: readonly Difference[], operations: number): Finding {
  const details = found.map(({ light, text }) => `${signs[light].padEnd(3)}${text}`)
  const count = (light: Difference['light']) => found.filter((one) => one.light === light).length
  const [broken, changed] = [count('red'), count('yellow')]
  if (broken + changed > 0) {
    return {
      light: broken > 0 ? 'red' : 'yellow',
      text: `${documentPath} differs in ${broken + changed} points from what this version expects (!! does not work, ! works otherwise).`,
      details,
      todo: 'Look for a newer version of voice-agent-mcp. Until then, leave the tools out that do not work (--exclude-tools).',
    }
  }
  const text = `${documentPath} has all ${operations} operations as this version expects them.`
  return found.length === 0 ? green(text) : green(`${text} It has more besides:`, details)
}
