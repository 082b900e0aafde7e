import type * as z from 'zod'
import type { RouteRequest } from '../contract/route.ts'
import { plainFields } from '../text/plain-text.ts'
import { shortenToTokens } from '../text/shorten.ts'
import { knownAndOthers } from './call-report.ts'
import { compactJson } from './compact-json.ts'
import { type ItemShortening, resultBudget, shortenResult } from './shorten-result.ts'
import type { StructuredContent, ToolOutput } from './tool-output.ts'
import { betweenMarks } from './transcript.ts'

type Item = Readonly<Record<string, unknown>>

/**
 * A page of calls or conversations. Whatever may hold what was said (transcripts, and fields that the
 * contract does not know) is in the text only between untrusted marks, made plain.
 */
export function listWithSpeech(
  { items, ...page }: StructuredContent,
  {
    shape,
    shortening,
    request,
  }: { shape: z.ZodRawShape; shortening: ItemShortening; request: RouteRequest },
): ToolOutput {
  const parts = (items as Item[]).map((item) => splitItem(item, shape))
  const whole = { ...page, items: parts.map(({ item }) => item) }
  if (parts.every(({ others }) => Object.keys(others).length === 0)) return { structured: whole }
  const { structured } = shortenResult(whole, { shortening, request })
  const shown = parts.slice(0, Number(structured.returned))
  const share = Math.max(100, (resultBudget * 0.7) / shown.length)
  return {
    structured,
    lines: [
      compactJson({ ...structured, items: shown.map(({ known }) => known) }),
      ...betweenMarks(
        `More of each of the ${shown.length}.`,
        shown.map(
          ({ id, others }) =>
            `- ${id}: ${shortenToTokens(compactJson(plainFields(others)), share)}`,
        ),
      ),
    ],
  }
}

/** An item, its fields that the contract knows, and those that may hold what was said. */
function splitItem({ messages, ...rest }: Item, shape: z.ZodRawShape) {
  const { known, others } = knownAndOthers(rest, shape)
  const spoken = messages === undefined ? others : { ...others, messages }
  const capture = { ...known.capture, ...(others.capture as object | undefined) }
  return {
    id: String(rest.id ?? rest.conversation_id),
    known,
    others: spoken,
    item: { ...spoken, ...known, ...('capture' in rest && { capture: known.capture && capture }) },
  }
}
