import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { type Scene, scenes } from './scenes.ts'
import { runInTerminal } from './terminal.ts'

/** A command with the lines that it has left in the terminal. */
export interface Shot {
  readonly scene: Scene
  readonly lines: readonly string[]
}

/**
 * Runs the scenes in a clone, each with the same empty home folder, in which one client is
 * installed. `port` is what the server listens on. A clone that `isInstalled` is not installed again.
 */
export async function record(
  clone: string,
  { port = 3000, isInstalled = false }: { port?: number; isInstalled?: boolean } = {},
): Promise<Shot[]> {
  const home = mkdtempSync(join(tmpdir(), 'recording-'))
  mkdirSync(join(home, '.cursor'))
  const shots: Shot[] = []
  try {
    for (const scene of scenes) {
      const env = environment({ clone, home, port })
      const command = (isInstalled && scene.whenInstalled) || scene.command
      const raw = await runInTerminal(command, { cwd: clone, env, typed: scene.typed })
      shots.push({ scene, lines: raw.map((line) => sameEverywhere(line, { clone, home, port })) })
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
  return shots
}

/** Where a recording is made. */
interface Place {
  readonly clone: string
  readonly home: string
  readonly port: number
}

/** The environment of a newcomer: no settings of the program or of an npm that runs this. */
function environment({ clone, home, port }: Place): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(VOICE_AGENT_|XDG_|NODE_|VITEST|INIT_CWD$|npm_(?!config_)|NO_COLOR)/.test(name),
  )
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    // The Node.js of the clone, once it is there; until then the one of this script.
    PATH: [join(clone, 'node_modules/node/bin'), dirname(process.execPath), process.env.PATH].join(
      delimiter,
    ),
    // What npm needs to reach its registry from here, without its notices.
    npm_config_userconfig: join(homedir(), '.npmrc'),
    npm_config_loglevel: 'error',
    npm_config_progress: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    VOICE_AGENT_PORT: String(port),
  }
}

/** Ids, times, marks and paths differ between runs and machines. Those of the seed do not. */
function sameEverywhere(line: string, place: Place): string {
  return line
    .replaceAll(place.clone, '/home/you/voice-agent-mcp')
    .replaceAll(place.home, '/home/you')
    .replaceAll(`:${place.port}`, ':3000')
    .replaceAll(/\b(?!0{8})[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}\b/g, callId)
    .replaceAll(/\bauto-[\da-f]{24}\b/g, 'auto-5b1f0c6e2d9a47c38e105f7b')
    .replaceAll(/(marks |untrusted-speech )[\da-f]{12}\b/g, '$17a4c90e15d32')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '2026-11-20T09:30:00.000Z')
    .replaceAll(/; \d\d s;/g, '; 29 s;')
    .replaceAll(/\badded \d+ packages in \d+m?s\b/g, 'added 190 packages in 9s')
    .replaceAll(/parts: \d+ kB/g, 'parts: 3300 kB')
}

const callId = '9f2c61d4-7a3e-4b58-8c0d-1e6f5a2b9c47'
