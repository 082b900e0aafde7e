import assert from 'node:assert/strict'
import { seedIds } from '../../../src/sandbox/small-data.ts'
import { hostileSources, hostileTemplate, templateCount } from '../../harness/hostile-templates.ts'
import { callBuiltTool, usageOf } from '../measure/program.ts'
import { round } from '../measure/report.ts'
import { healthDuring } from './http-checks.ts'
import type { Scenario } from './scenario.ts'

/** How many of the 11,000 templates of test/jinja are used, evenly spread. */
const count = 30
const templates = Array.from({ length: count }, (_, index) =>
  hostileTemplate(Math.floor((index * templateCount) / count)),
)

/** Most processor time of one request, s: several times what the step limit of a template allows. */
const longest = 2

export const hostileTemplates: Scenario = {
  name: 'hostile-templates',
  point: 'Templates use as much time, memory, names and nesting as they can.',
  guarantee: 'Each ends by its step limit, all within 512 MB; SIGTERM works meanwhile.',
  async run(attack) {
    const server = await attack.serve({ isMemoryScarce: true })
    let most = 0
    const measured = async (asked: () => Promise<unknown>) => {
      const before = usageOf(server.process).cpu
      await asked()
      most = Math.max(most, round(usageOf(server.process).cpu - before))
    }
    const health = await healthDuring(server.url, async () => {
      for (const make of Object.values(hostileSources)) {
        const template = make()
        await measured(() => callBuiltTool(server.url, 'validate_agent_template', { template }))
      }
      for (const message of templates) await measured(() => render(server.url, message))
    })
    assert.ok(most < longest, `A request took ${most} s of processor time`)

    // Requests that are interrupted by the end of the server may fail.
    const left = Promise.allSettled(templates.map((message) => render(server.url, message)))
    server.process.kill('SIGTERM')
    assert.equal(await server.exited, 0)
    await left
    return {
      templates: templates.length + Object.keys(hostileSources).length,
      'most processor time of one, s': most,
      'longest wait for /health, ms': health,
    }
  },
}

/** Places a call whose greeting is the template: it is rendered when the call begins. */
async function render(url: string, message: string): Promise<void> {
  const changed = await callBuiltTool(url, 'update_agent', {
    agent_id: seedIds.supportAgent,
    initial_message: { message },
  })
  assert.ok(!changed.isError, JSON.stringify(changed.content))
  const call = { type: 'web', agent_id: seedIds.supportAgent }
  const placed = await callBuiltTool(url, 'place_call', {
    ...call,
    external_id: crypto.randomUUID(),
  })
  assert.ok(!placed.isError, JSON.stringify(placed.content))
}
