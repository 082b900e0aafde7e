import type * as z from 'zod'
import type { RouteRequest } from '../contract/route.ts'
import { plainFields } from '../text/plain-text.ts'
import { boundedString } from './bounded.ts'
import { knownAndOthers } from './call-report.ts'
import { compactText } from './compact.ts'
import { type Cut, resultBudget, shortened } from './fit.ts'
import type { StructuredContent, ToolOutput } from './tool-output.ts'
import { betweenMarks } from './transcript.ts'

type Item = Readonly<Record<string, unknown>>

/**
 * A page of calls or conversations with all that was asked for. What may repeat what was said
 * (transcripts, and fields that the platform added) stands in the text between marks that nobody on
 * a call can write, and cleaned.
 */
export function withSpeech(
  { items, ...page }: StructuredContent,
  { shape, cut, request }: { shape: z.ZodRawShape; cut: Cut; request: RouteRequest },
): ToolOutput {
  const parts = (items as Item[]).map((item) => parted(item, shape))
  const whole = { ...page, items: parts.map(({ item }) => item) }
  if (parts.every(({ others }) => Object.keys(others).length === 0)) return { structured: whole }
  const { structured } = shortened(whole, { cut, request })
  const shown = parts.slice(0, Number(structured.returned))
  const share = Math.max(100, (resultBudget * 0.7) / shown.length)
  return {
    structured,
    lines: [
      compactText({ ...structured, items: shown.map(({ known }) => known) }),
      ...betweenMarks(
        `More of each of the ${shown.length}.`,
        shown.map(
          ({ id, others }) => `- ${id}: ${boundedString(compactText(plainFields(others)), share)}`,
        ),
      ),
    ],
  }
}

/** An item, what the contract knows of it, and what strangers may have said. */
function parted({ messages, ...rest }: Item, shape: z.ZodRawShape) {
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
