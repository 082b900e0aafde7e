import { type Agent, AgentCreate } from '../../contract/agent.ts'
import { type Fields, overlay } from '../field-changes.ts'

/** What a copy is created from. */
export interface CopiedFields {
  /** The body of the creation. */
  readonly body: Fields
  /** Fields of the original that a new agent does not take. */
  readonly left: readonly string[]
}

/** Fields of replies alone [R]: the copy has its own. */
const ofReplies = ['id', 'account_id', 'created', 'modified', 'is_archived']

/**
 * All fields of an agent that a new one takes, with the changes. What is null at the top is left out,
 * because it means the default there; in an object it is a value, such as no background sound [R].
 */
export function copiedFields(original: Agent, changes: Fields): CopiedFields {
  const given = Object.entries(original).filter(
    ([, value]) => value !== null && value !== undefined,
  )
  const isTaken = (name: string) => Object.hasOwn(AgentCreate.shape, name)
  const copied = Object.fromEntries(given.filter(([name]) => isTaken(name)))
  const merged = Object.entries(changes).map(([name, change]) => [
    name,
    overlay(copied[name], change),
  ])
  return {
    body: { ...copied, ...Object.fromEntries(merged) },
    left: given.map(([name]) => name).filter((name) => !isTaken(name) && !ofReplies.includes(name)),
  }
}
