import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createAccount } from '../../../../src/sandbox/accounts.ts'
import { createAgent } from '../../../../src/sandbox/agents.ts'
import { rowOfPlan } from '../../../../src/sandbox/call-row.ts'
import { insertSipTrunk } from '../../../../src/sandbox/sip-trunks.ts'
import { openStore, type Store } from '../../../../src/sandbox/store.ts'
import { scratchFolder } from '../../../harness/program.ts'
import { startOfRun } from '../clock.ts'
import { type CompanyRows, readCompanyRows } from '../company-rows.ts'
import {
  type AccountKey,
  accountNames,
  disabledAccount,
  idOf,
  keyOf,
  numberSeeds,
  trunkSeeds,
} from './accounts.ts'
import { agentBody, agentSeeds } from './agents.ts'
import { callSeeds } from './calls.ts'

const day = 24 * 3_600_000

/** Creation time of the company, Unix ms. */
const opened = startOfRun - 120 * day

/**
 * Seeds one job's company: a root account with its own API key, branches, agents, trunks, numbers
 * and eight weeks of calls. No API key reaches the company of another job, so jobs cannot disturb
 * each other.
 */
function seedCompany(store: Store, job: string): void {
  const accountId = (key: AccountKey) => idOf(job, 'account', key)
  const agentId = (name: string) => idOf(job, 'agent', name)
  const numberId = (number: string) => idOf(job, 'number', number)
  seedAccounts(store, job, accountId)
  agentSeeds.forEach((seed, index) => {
    createAgent(store, {
      id: agentId(seed.name),
      accountId: accountId(seed.account ?? 'company'),
      body: agentBody(seed),
      now: opened + index * 3_600_000,
    })
    if (seed.isArchived) {
      store.update('agents', agentId(seed.name), { is_archived: 1 })
    }
  })
  seedLines(store, { job, accountId, agentId, numberId })
  seedCalls(store, { job, accountId, agentId, numberId })
}

interface Ids {
  readonly job: string
  readonly accountId: (key: AccountKey) => string
  readonly agentId: (name: string) => string
  readonly numberId: (number: string) => string
}

function seedAccounts(store: Store, job: string, accountId: Ids['accountId']): void {
  for (const [key, name] of Object.entries(accountNames) as [AccountKey, string][]) {
    const isRoot = key === 'company'
    createAccount(store, {
      id: accountId(key),
      parentId: isRoot ? null : accountId('company'),
      name,
      now: opened,
      apiKey: isRoot ? keyOf(job) : undefined,
    })
  }
  store.update('accounts', accountId(disabledAccount), { is_active: 0 })
}

function seedLines(store: Store, { job, accountId, agentId, numberId }: Ids): void {
  const trunkId = (name: string) => idOf(job, 'trunk', name)
  trunkSeeds.forEach(({ name, account, termination_uri, allowed_ips }, index) => {
    const row = { id: trunkId(name), account_id: accountId(account), name, termination_uri }
    insertSipTrunk(store, { ...row, allowed_ips: [...allowed_ips] }, opened + index * 60_000)
  })
  numberSeeds.forEach(({ number, name, account, trunk, answeredBy }, index) => {
    const row = {
      id: numberId(number),
      account_id: accountId(account),
      number,
      friendly_name: name,
      sip_trunk_id: trunkId(trunk),
      inbound_agent_id: answeredBy === null ? null : agentId(answeredBy),
    }
    store.insert('phone_numbers', { ...row, created: opened + index * 60_000 })
  })
}

function seedCalls(store: Store, { job, accountId, agentId, numberId }: Ids): void {
  const accounts = new Map(agentSeeds.map(({ name, account }) => [name, account ?? 'company']))
  callSeeds.forEach(({ created, type, direction, agent, line, contact, plan }, index) => {
    const isInbound = direction === 'inbound'
    const who = {
      account_id: accountId(accounts.get(agent) ?? 'company'),
      type,
      direction,
      agent_id: agentId(agent),
      agent_name: agent,
      phone_number_id: line && numberId(line),
      from_number: isInbound ? contact : line,
      to_number: isInbound ? line : contact,
      external_id: null,
      is_recorded: 1,
    }
    const row = rowOfPlan(who, plan, { id: idOf(job, 'call', index), created, speed: 1 })
    store.insert('calls', row)
  })
}

/** Creates a sandbox database with a company per job. Replaces an existing file. */
export function makeSeededSandbox(file: string, jobs: readonly { readonly name: string }[]): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
  openStore(file, (store) => {
    for (const { name } of jobs) seedCompany(store, name)
  }).close()
}

/** The company of a job before any change. */
export function seededCompanyRows(job: string): CompanyRows {
  using folder = scratchFolder()
  const file = join(folder.path, 'seeded.db')
  makeSeededSandbox(file, [{ name: job }])
  return readCompanyRows(file, job)
}
