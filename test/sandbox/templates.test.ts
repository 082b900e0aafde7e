import { expect, test } from 'vitest'
import { analyse } from '../../src/jinja/index.ts'
import { templateLimits } from '../../src/sandbox/template-limits.ts'
import { hostileSources } from '../harness/hostile-templates.ts'

const prompt =
  'You speak with {{ contact.first_name }}. {% if plan == "gold" %}Offer more.{% endif %}\n'

test('a prompt of several hundred kilobytes is checked', () => {
  expect(analyse(prompt.repeat(5000), templateLimits)).toMatchObject({ valid: true, errors: [] })
})

test('a template of a megabyte and more is refused before it is read', () => {
  const { errors } = analyse('x'.repeat(templateLimits.maxLength + 1), templateLimits)
  expect(errors[0]?.type).toBe('too_large')
})

test('variables count as steps: 10,000 are listed, 20,000 are too many', () => {
  const reading = (count: number) =>
    Array.from({ length: count }, (_, index) => `{{ v${index} }}`).join('')
  expect(analyse(reading(10_000), templateLimits).variables).toHaveLength(10_000)
  expect(analyse(reading(20_000), templateLimits).errors[0]?.type).toBe('too_large')
})

/** CPU time of this process: other work on the machine makes no difference. */
function cpuMs(work: () => void): number {
  const { user, system } = process.cpuUsage()
  work()
  const after = process.cpuUsage()
  return (after.user + after.system - user - system) / 1000
}

test.each(Object.entries(hostileSources))(
  'the check of %s takes less than twice what a plain template of that many steps takes',
  (_, make) => {
    const source = make()
    const plain = `{{ [${'a,'.repeat(65_000)}a] }}`
    const least = (text: string) =>
      Math.min(...[1, 2, 3].map(() => cpuMs(() => analyse(text, templateLimits))))
    expect(least(source)).toBeLessThan(30 + 2 * least(plain))
  },
)
