import type { routes } from '../../contract/routes.ts'
import { badArguments, Refused } from '../../mcp/call/refused.ts'
import type { Steps, ToolOutcome } from '../../mcp/call/tool.ts'
import { forEach } from '../many/for-each.ts'
import { withMissingHint } from '../many/missing-thing.ts'
import { refuseIfNoneDone } from '../many/none-done.ts'
import type { SelectedThing, ThingsOnce } from '../many/selected-things.ts'
import { linksForDryRun } from './link-names.ts'
import type { LinkNames } from './number-changes.ts'
import { numberUpdateSchema, updatedNumber, updatedNumbers } from './number-update-result.ts'
import { selectedNumbers } from './selected-numbers.ts'
import { type UpdateNumberRun, updateNumberOptions, updateOneNumber } from './update-one-number.ts'

/** Updates one number, or makes the same change to many. */
export const updatePhoneNumberSteps: Steps<
  typeof routes.phoneNumbers.update,
  typeof updateNumberOptions
> = {
  options: updateNumberOptions,
  schema: numberUpdateSchema,
  hasTimeLimit: true,
  reportsProgress: true,
  async run(run) {
    const selected = await selectedNumbers(run.options, run)
    const links = await linksForDryRun(run)
    if ('numberId' in selected)
      return updatedNumber(await updateOneNumber(selected.numberId, run, links))
    if (run.body.number !== undefined)
      throw badArguments([
        { argument: 'number', message: 'belongs to one number: give it with phone_number_id' },
      ])
    return updateMany(selected, run, links)
  },
}

/**
 * What was changed before a failure, the time limit or a cancellation stays changed, and the result
 * tells which; the same call again finds nothing to change there.
 */
async function updateMany(
  { things: numbers, repeated }: ThingsOnce,
  run: UpdateNumberRun,
  links: LinkNames,
): Promise<ToolOutcome> {
  const work = ({ id, problem = 'it is not known which number is meant' }: SelectedThing) => {
    if (id === undefined) throw new Refused('bad_arguments', problem)
    return updateOneNumber(id, run, links)
  }
  const found = await forEach(numbers, async (one) => work(one), run)
  const outcomes = await Promise.all(
    found.map(async (outcome, at) => {
      const { given = '', id } = numbers[at] ?? {}
      const named = { argument: 'phone_number_id', given } as const
      return { given, id, outcome: await withMissingHint(outcome, named, run) }
    }),
  )
  refuseIfNoneDone(outcomes, 'phone_number_ids')
  return updatedNumbers(outcomes, { repeated, isDryRun: run.options.dry_run === true })
}
