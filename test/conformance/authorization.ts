import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { allowInSandbox } from '../harness/oauth-person.ts'
import { givenClient } from '../harness/oauth-program.ts'
import { cleanEnv, freePort } from '../harness/program.ts'
import { type Check, commandOf, longestRunMs, resultsOf, type ScenarioSet } from './suite.ts'

/** Runs the scenarios for authorization servers: the suite is the client, a person allows it. */
export function runAuthorization(
  { line, revision }: ScenarioSet,
  issuer: string,
): Promise<ReadonlyMap<string, readonly Check[]>> {
  return resultsOf(async (folder) => {
    const client = ['--client-id', givenClient.client_id, '--port', String(await freePort())]
    const server = ['--url', issuer, '--resource', `${issuer}/mcp`]
    const args = [...server, ...client, '--spec-version', revision, '-o', folder]
    const suite = spawn(process.execPath, [commandOf(line), 'authorization', ...args], {
      env: cleanEnv(),
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: longestRunMs,
    })
    let failure: unknown
    createInterface(suite.stdout).on('line', (text) => {
      if (!/^http\S+[?&]response_type=code/.test(text)) return
      allow(text).catch((error: unknown) => {
        failure = error
        // It would wait for minutes.
        suite.kill()
      })
    })
    await once(suite, 'close')
    if (failure) throw failure
  })
}

/** What a person does with the address that the suite shows, up to the page of the suite. */
async function allow(authorizationUrl: string): Promise<void> {
  await fetch(await allowInSandbox(authorizationUrl))
}
