import { existsSync } from 'node:fs'
import { tools } from '../../tools/index.ts'
import { createClient } from '../api/client.ts'
import { ApiError, type Failure, isCertificateProblem, SendFailure } from '../api/failure.ts'
import { failureText } from '../api/failure-text.ts'
import { keyFree, redactor } from '../api/key-free.ts'
import { settingLabel } from '../config/setting.ts'
import { type StateConfig, type StateLocation, stateSettings } from '../config/state.ts'
import type { Route } from '../contract/route.ts'
import { allRoutes, routes } from '../contract/routes.ts'
import type { InspectedDatabase } from '../state/postgres/inspect-database.ts'
import { type InspectedFile, inspectSqliteState } from '../state/sqlite/sqlite-state.ts'
import { closestWord } from '../text/closest-match.ts'
import { readPolicy } from './call-services.ts'
import { openPlatform } from './platform.ts'
import { keptSecretFile, openSealingKeys } from './sealing-keys.ts'

/** As the OpenAPI document gives it. */
const operationIdOf = ({ id }: Route) => id.replace('.', '_')

/** What is in a state, without a change to it. */
export type InspectedState =
  | { readonly kind: 'database'; readonly database: InspectedDatabase }
  | { readonly kind: 'files'; readonly folder: string; readonly files: readonly InspectedFile[] }

/**
 * What a command that checks an installation works with. It is given to the command, because with
 * imports of its own the command would split the files that every start loads.
 */
export const inspection = {
  openPlatform,
  createClient,
  keyFree,
  redactor,
  failureText,
  closestWord,
  isCertificateProblem,
  routes,
  readPolicy,
  /** What went wrong with a request; every other error is thrown on. */
  failureOf(error: unknown): Failure {
    if (error instanceof ApiError || error instanceof SendFailure) return error.failure
    throw error
  },
  /**
   * The tools that carry out an operation, by its id in the OpenAPI document. A tool that only checks
   * what another one would do is not one of them.
   */
  toolsOf: (operationId: string | undefined): readonly string[] =>
    tools
      .filter(({ route }) => operationIdOf(route) === operationId)
      .filter(({ effect, route }) => effect !== 'reads' || route.effect === 'reads')
      .map(({ name }) => name),
  /** The OpenAPI document of the API that this program speaks. */
  async contractDocument(): Promise<unknown> {
    const { openApiDocument } = await import('../contract/openapi.ts')
    return openApiDocument(allRoutes)
  },
  /** Throws StateError. */
  async inspectState(
    { databaseUrl: url, dir }: StateLocation,
    { isSandbox }: { isSandbox: boolean },
  ): Promise<InspectedState> {
    if (url === undefined) {
      const files = await inspectSqliteState({ folder: dir, isSandbox })
      return { kind: 'files', folder: dir, files }
    }
    const { inspectDatabase } = await import('../state/postgres/postgres-state.ts')
    const setting = settingLabel(stateSettings, 'state-url')
    return { kind: 'database', database: await inspectDatabase({ url, setting }) }
  },
  /** Reads the secret that confirmations are signed with, if there is one. Throws ConfigError and StateError. */
  async readSecret(state: StateConfig): Promise<void> {
    const keys = openSealingKeys(state)
    if (state.secrets || existsSync(keptSecretFile(state.dir))) await keys.of('inspection')
  },
}

export type Inspection = typeof inspection
