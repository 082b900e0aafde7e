import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { readScript } from '../../../src/dev/script-arguments.ts'
import { messageOf } from '../../../src/text/safe-text.ts'
import { today } from './clock.ts'
import { readCompanyRows } from './company-rows.ts'
import { effortOf, noEffort, sumOf } from './effort.ts'
import { checkJob } from './job.ts'
import { dozens, type Job, jobNamed, jobs } from './jobs.ts'
import { seededCompanyRows } from './seed/seed-company.ts'
import { databaseOf, serveJobs } from './serve.ts'

const usage = `Everyday jobs for an assistant, on a seeded sandbox: serves the sandbox, and checks the results.

npm run jobs -- start [--port N --folder DIR --speed N --json]
  Fills a sandbox and serves it until it is stopped. Each job has its own company: URL/JOB/mcp is the
  MCP server of the job, and URL/JOB/v1 the platform's REST API.
npm run jobs -- list [NAME… --dozen first|second|third --json]
  Prints the request of each job, in a person's words.
npm run jobs -- check [NAME… --dozen first|second|third] --answers FILE [--folder DIR --json]
  Checks the data of the sandbox and the answers. FILE: a JSON object of answers by job name.
npm run jobs -- report --logs DIR [--answers FILE --folder DIR --dozen first|second|third --json]
  Prints tool calls, errors and characters of each job as a table. The log of a job is DIR/JOB.jsonl,
  with a line such as {"verb":"call","name":"get_usage","in":20,"out":900,"error":false} per call.

  --folder  folder of the run's data (default: ${join(tmpdir(), 'voice-agent-mcp-jobs')})
  --port    port to listen on (default 0: a free port)
  --speed   speed of simulated calls, as a multiple of real time (default 10)
  --json    prints one JSON document instead of text

check and report exit with 0 if every job is right, with 1 if one is wrong, and with 2 if they cannot
run.
`

const write = (text: string) => process.stdout.write(text)
const writeJson = (value: unknown) => write(`${JSON.stringify(value, null, 2)}\n`)

const {
  flags,
  positionals: [command, ...names],
  refuse,
} = readScript(
  usage,
  {
    folder: join(tmpdir(), 'voice-agent-mcp-jobs'),
    port: 0,
    speed: 10,
    dozen: undefined,
    answers: undefined,
    logs: undefined,
    json: false,
  },
  { allowPositionals: true },
)

/**
 * The jobs that the command line selects: by names, by group of twelve (`--dozen`), or by both.
 * Without either, all jobs.
 */
function chosen(): readonly Job[] {
  const { dozen } = flags
  if (dozen !== undefined && !dozens.some((one) => one === dozen))
    refuse(`--dozen is one of ${dozens.join(', ')}.`)
  const unknown = names.filter((name) => !jobNamed(name))
  if (unknown.length > 0) refuse(`There is no job ${unknown.join(', ')}.`)
  return jobs.filter(
    (job) =>
      (names.length === 0 || names.includes(job.name)) &&
      (dozen === undefined || job.dozen === dozen),
  )
}

/**
 * Builds the program if needed. Output goes to standard error, so that standard output has only
 * results.
 */
function build(): void {
  const script = join(import.meta.dirname, '../../../src/dev/build.ts')
  execFileSync(process.execPath, [script, '--if-needed'], { stdio: ['ignore', 2, 2] })
}

async function start(): Promise<void> {
  const { port, speed } = flags
  if (!Number.isInteger(port)) refuse('--port is a port.')
  if (speed === 0) refuse('--speed is a number above 0.')
  const folder = resolve(flags.folder)
  build()
  await using server = await serveJobs({ folder, port, speed }).catch((error: unknown) =>
    refuse(messageOf(error)),
  )
  const shown = chosen().map((job) => ({ job: job.name, mcp_url: `${server.url}/${job.name}/mcp` }))
  const { pid } = process
  if (flags.json) writeJson({ url: server.url, pid, folder, today, jobs: shown })
  else {
    write(`Serving the jobs at ${server.url}; their day is ${today}. Data: ${folder}\n`)
    write(`Stop it with Ctrl+C, or by SIGTERM to process ${pid}.\n`)
    for (const { job, mcp_url } of shown) write(`MCP_URL=${mcp_url}  # ${job}\n`)
  }
  await new Promise<void>((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => stop())
  })
}

function list(): void {
  const shown = chosen().map(({ name, dozen, text }) => ({ name, dozen, text }))
  if (flags.json) writeJson({ today, jobs: shown })
  else {
    write(`Today is ${today}.\n\n`)
    for (const { name, text } of shown) write(`${name}\n  ${text}\n\n`)
  }
}

const Answers = z.record(z.string(), z.string())

function readAnswers(file: string): z.output<typeof Answers> {
  try {
    const answers = Answers.parse(JSON.parse(readFileSync(file, 'utf8')))
    const unknown = Object.keys(answers).filter((name) => !jobNamed(name))
    if (unknown.length > 0) throw new Error(`there is no job ${unknown.join(', ')}`)
    return answers
  } catch (error) {
    return refuse(`The answers in ${file} cannot be used: ${messageOf(error)}`)
  }
}

/** Problems of each job, by name. */
function problems(answersFile: string): { name: string; problems: string[] }[] {
  const file = databaseOf(resolve(flags.folder))
  if (!existsSync(file)) refuse(`There is no run in ${flags.folder}.`)
  const answers = readAnswers(answersFile)
  return chosen().map((job) => {
    const { name } = job
    const [before, after] = [seededCompanyRows(name), readCompanyRows(file, name)]
    const answer = answers[name]
    return answer === undefined
      ? { name, problems: ['There is no answer: it was not done.'] }
      : { name, problems: checkJob(job, { before, after, answer }) }
  })
}

function check(): void {
  const verdicts = problems(flags.answers ?? refuse('--answers names the file with the answers.'))
  const right = verdicts.filter((verdict) => verdict.problems.length === 0)
  if (flags.json) writeJson({ right: right.length, of: verdicts.length, jobs: verdicts })
  else {
    for (const verdict of verdicts) {
      write(`${verdict.problems.length === 0 ? 'right' : 'WRONG'} ${verdict.name}\n`)
      for (const problem of verdict.problems) write(`      ${problem}\n`)
    }
    write(`${right.length} of ${verdicts.length} right\n`)
  }
  if (right.length < verdicts.length) process.exitCode = 1
}

function report(): void {
  const { answers } = flags
  const logs = flags.logs ?? refuse('--logs names the folder with the logs.')
  const verdicts = answers === undefined ? [] : problems(answers)
  const rows = chosen().map(({ name }) => {
    const verdict = verdicts.find((one) => one.name === name)
    return {
      job: name,
      ...(effortOf(logs, name) ?? noEffort),
      right: verdict ? verdict.problems.length === 0 : null,
    }
  })
  const total = sumOf(rows)
  if (flags.json) writeJson({ rows, total })
  else {
    write('| Job | Calls | Errors | Characters sent | received | Right |\n')
    write('| --- | ---: | ---: | ---: | ---: | --- |\n')
    for (const row of rows) write(tableRow(row.job, row, rightText(row.right)))
    const right = rows.filter((row) => row.right).length
    write(tableRow('all', total, verdicts.length === 0 ? '' : `${right} of ${rows.length}`))
  }
  if (rows.some((row) => row.right === false)) process.exitCode = 1
}

const rightText = (isRight: boolean | null) => (isRight === null ? '' : isRight ? 'yes' : 'no')

const tableRow = (name: string, { calls, errors, ...chars }: typeof noEffort, right: string) =>
  `| ${name} | ${calls} | ${errors} | ${chars.in} | ${chars.out} | ${right} |\n`

const commands: Readonly<Record<string, () => Promise<void> | void>> = {
  start,
  list,
  check,
  report,
}

const run = commands[command ?? '']
if (run) await run()
else refuse(command === undefined ? 'Say what to do.' : `There is no ${command}.`)
