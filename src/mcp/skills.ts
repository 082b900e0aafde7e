import {
  ProtocolError,
  type Resource,
  type Server,
  type TextResourceContents,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { RestrictedSession } from '../platform/sessions/restricted-session.ts'
import type { SafeText } from '../text/safe-text.ts'
import { refuseCursor } from './errors.ts'
import { unchangingCacheHint } from './server-info.ts'

/*
 * Skills (SEP-2640): workflows that an assistant reads when it needs them. Each is one resource, a
 * `SKILL.md`. For clients without the extension it is a resource like any other.
 */

export interface Skill {
  /** Lowercase words with hyphens, as the format for agent skills prescribes. */
  readonly name: string
  readonly title: string
  /** What the skill does and when to use it. Models see only this before they read the skill. */
  readonly description: string
  /** Name of the tool that the skill is about. The skill is served only if it is exposed. */
  readonly requires: string
  /** Markdown. */
  readonly text: SafeText
}

export interface SkillContext {
  readonly session: RestrictedSession
  /** All skills, in the order in which `skills/list` shows them. */
  readonly skills: readonly Skill[]
}

const mimeType = 'text/markdown'

const uriOf = ({ name }: Skill) => `skill://${name}/SKILL.md`

const fileOf = ({ name, title, description, text }: Skill) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${title}\n\n${text}\n`

const served = ({ skills, session }: SkillContext) =>
  skills.filter(({ requires }) => session.exposes(requires))

/** The skills in `resources/list`. */
export const skillResources = (context: SkillContext): Resource[] =>
  served(context).map((skill) => {
    const { name, title, description } = skill
    const size = Buffer.byteLength(fileOf(skill))
    return { uri: uriOf(skill), name, title, description, mimeType, size }
  })

/** The `SKILL.md` with this URI; `undefined`: no served skill has the URI. */
export function skillContents(
  uri: string,
  context: SkillContext,
): TextResourceContents | undefined {
  const skill = served(context).find((one) => uriOf(one) === uri)
  return skill && { uri, mimeType, text: fileOf(skill) }
}

/** Schemas of the methods; created once, not per server. */
const anyResult = z.looseObject({})
const listSchemas = {
  params: z.looseObject({ cursor: z.string().optional() }),
  result: anyResult,
}
const getSchemas = { params: z.looseObject({ uri: z.string() }), result: anyResult }

/** `skills/list` and `skills/get`. */
export function serveSkills(server: Server, context: SkillContext): void {
  server.setRequestHandler('skills/list', listSchemas, async (params) => {
    refuseCursor(params)
    return { skills: await Promise.all(served(context).map(entryOf)), ...unchangingCacheHint }
  })
  server.setRequestHandler('skills/get', getSchemas, async ({ uri }) => {
    const skill = served(context).find((one) => uriOf(one) === uri)
    if (!skill) throw new ProtocolError(-32602, 'There is no such skill: see skills/list.')
    return { skill: await entryOf(skill), ...unchangingCacheHint }
  })
}

/** Cache of entries: a digest is computed once per skill. */
const entries = new WeakMap<Skill, ReturnType<typeof makeEntry>>()

/** The entry of a skill: its front matter, and size and digest of its file. */
export function entryOf(skill: Skill): ReturnType<typeof makeEntry> {
  const entry = entries.get(skill) ?? makeEntry(skill)
  entries.set(skill, entry)
  return entry
}

async function makeEntry(skill: Skill) {
  // Loaded when the first client asks for skills.
  const { skillEntry } = await import('@modelcontextprotocol/server/ext/skills')
  return skillEntry(skill.name, { 'SKILL.md': fileOf(skill) })
}
