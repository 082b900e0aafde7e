import { describe, expect, test } from 'vitest'
import {
  type CallIdentity,
  type Journal,
  type JournalEntry,
  longestSendMs,
  sameCallMs,
} from '../../../src/state/call-journal.ts'

const identity = (more: Partial<CallIdentity> = {}): CallIdentity => ({
  owner: 'a platform and an account',
  content: 'what is asked for',
  externalId: undefined,
  sameForMs: sameCallMs,
  ...more,
})

const hourMs = 3_600_000

/** Tolerance for times by the uptime, ms: macOS reports it in whole seconds. */
const uptimeMs = process.platform === 'darwin' ? 2000 : 30

/** Tests that every journal must pass. `open`: one empty journal, as two servers see it. */
export function describeJournal(
  name: string,
  open: () => Promise<readonly [Journal, Journal]>,
): void {
  /** Claims a call and returns the entry. Throws if another caller has it. */
  const claimed = async (journal: Journal, more: Partial<CallIdentity> = {}) => {
    const claim = await journal.claim(identity(more))
    if (claim.kind !== 'mine') throw new Error(`the claim is ${claim.kind}`)
    return claim.entry
  }
  const sending = async (journal: Journal, entry: JournalEntry, forMs = 1000) => {
    const held = await journal.beginSending(entry, forMs)
    if (!held) throw new Error('another caller holds it')
    return held
  }

  describe(`a journal ${name}`, () => {
    test.each([
      ['without an id', undefined],
      ['with an id', 'mine'],
    ])('lets one of many identical requests send: %s', async (_, externalId) => {
      const [one, other] = await open()
      const concurrently = <T>(work: (journal: Journal) => Promise<T>) =>
        Promise.all(Array.from({ length: 30 }, (_, nth) => work(nth % 2 ? one : other)))
      // Opens all connections first, so that the claims run concurrently.
      await concurrently((journal) => journal.find(identity({ content: 'another' })))
      const claims = await concurrently((journal) => journal.claim(identity({ externalId })))
      expect(claims.filter(({ kind }) => kind === 'mine')).toHaveLength(1)
      expect(claims.filter(({ kind }) => kind === 'theirs')).toHaveLength(29)
      const ids = claims.map((claim) => 'entry' in claim && claim.entry.externalId)
      expect(new Set(ids).size).toBe(1)
    })

    test('keeps calls of other owners and contents apart', async () => {
      const [one, other] = await open()
      const entries = [
        await claimed(one),
        await claimed(other, { content: 'something else' }),
        await claimed(one, { owner: 'another account' }),
        await claimed(other, { externalId: 'mine' }),
        await claimed(one, { owner: 'another account', externalId: 'mine' }),
      ]
      expect(new Set(entries.map((entry) => entry.owner + entry.externalId)).size).toBe(5)
    })

    test('an external id belongs to one call', async () => {
      const [one, other] = await open()
      await claimed(one, { externalId: 'mine' })
      const answer = await other.claim(identity({ externalId: 'mine', content: 'something else' }))
      expect(answer).toMatchObject({ kind: 'conflict' })
    })

    test('a call with a generated id is found by that id, too', async () => {
      const [one, other] = await open()
      const { externalId } = await claimed(one)
      expect(externalId).toMatch(/^auto-[0-9a-f]{24}$/)
      expect(await other.claim(identity({ externalId }))).toMatchObject({
        kind: 'theirs',
        entry: { externalId },
      })
    })

    test('a released entry can be claimed again, once, by its id and by its content', async () => {
      const [one, other] = await open()
      const entry = await claimed(one)
      await one.release(entry)
      expect(await other.find(identity())).toBeUndefined()
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, nth) =>
          (nth % 2 ? one : other).claim(identity(nth % 3 ? {} : { externalId: entry.externalId })),
        ),
      )
      const mine = claims.filter(({ kind }) => kind === 'mine')
      expect(mine).toHaveLength(1)
      const [claim] = mine
      if (claim?.kind !== 'mine') throw new Error('not mine')
      expect(claim.entry.externalId).toBe(entry.externalId)
      expect(claim.entry.stamp).toBeGreaterThan(entry.stamp)
      // The first holder has lost its claim.
      expect(await one.beginSending(entry, 1000)).toBeUndefined()
    })

    test('the id of a free entry can be used for a corrected call', async () => {
      const [one, other] = await open()
      await one.release(await claimed(one, { externalId: 'mine' }))
      await claimed(other, { externalId: 'mine', content: 'corrected' })
      expect(await one.claim(identity({ externalId: 'mine' }))).toMatchObject({ kind: 'conflict' })
    })

    test('one of several callers takes an entry over, and stamps only grow', async () => {
      const [one, other] = await open()
      const held = await sending(one, await claimed(one))
      const taken = await Promise.all(
        Array.from({ length: 20 }, (_, nth) => (nth % 2 ? one : other).beginSending(held, 10)),
      )
      const winners = taken.filter((entry) => entry !== undefined)
      expect(winners).toHaveLength(1)
      expect(winners[0]?.stamp).toBeGreaterThan(held.stamp)
      // The server that lost the claim cannot change the entry.
      await one.release(held)
      await one.endSending(held)
      expect(await other.current(held)).toMatchObject({
        state: 'sending',
        stamp: winners[0]?.stamp,
      })
    })

    test("returns the time since the sender's deadline", async () => {
      const [one, other] = await open()
      const held = await sending(one, await claimed(one), 30_000)
      const before = (await other.current(held))?.sinceDeadlineMs ?? 0
      expect(before).toBeLessThan(-25_000)
      expect(before).toBeGreaterThan(-31_000)
      await one.endSending(held)
      const after = await other.current(held)
      expect(after?.sinceDeadlineMs).toBeGreaterThanOrEqual(-1)
      expect(after?.sinceDeadlineMs).toBeLessThan(10_000)
    })

    test('returns the time of the first send, and resets it with a claim of a free entry', async () => {
      const [one, other] = await open()
      const pause = () => new Promise((resolve) => setTimeout(resolve, uptimeMs + 70))
      const first = await claimed(one)
      await pause()
      const sent = await sending(one, first, 5000)
      const taken = await sending(other, sent, 5000)
      await other.endSending(taken)
      for (const entry of [sent, taken, await one.current(taken)]) {
        const laterMs = (entry?.firstSentAt ?? Number.NaN) - first.firstSentAt
        expect(Math.abs(laterMs)).toBeLessThan(uptimeMs)
      }
      const held = await one.current(taken)
      if (held) await one.release(held)
      const { firstSentAt } = await claimed(other, { externalId: first.externalId })
      expect(firstSentAt).toBeGreaterThan(first.firstSentAt + 40)
    })

    test('accepts fractions of a millisecond, and the longest duration', async () => {
      const [one] = await open()
      const held = await sending(one, await claimed(one), 6931.4375)
      expect(await one.beginSending(held, longestSendMs)).toMatchObject({ state: 'sending' })
    })

    test('an outcome is final, whoever records it', async () => {
      const [one, other] = await open()
      const entry = await sending(one, await claimed(one))
      await other.recordPlaced(entry, 'call-1')
      await one.recordNotAccepted(entry, 'call-2')
      await one.release(entry)
      expect(await other.find(identity())).toMatchObject({ state: 'placed', callId: 'call-1' })
      expect(await other.claim(identity())).toMatchObject({
        kind: 'theirs',
        entry: { state: 'placed', callId: 'call-1' },
      })
      const refused = await claimed(other, { content: 'something else' })
      await one.recordNotAccepted(refused, 'call-3')
      await other.recordPlaced(refused, 'call-4')
      expect(await one.current(refused)).toMatchObject({ state: 'not_taken', callId: 'call-3' })
    })

    test('a call that is found after its entry was released is recorded', async () => {
      const [one, other] = await open()
      const entry = await claimed(one)
      await one.release(entry)
      await other.recordPlaced(entry, 'call-1')
      expect(await one.claim(identity())).toMatchObject({
        kind: 'theirs',
        entry: { callId: 'call-1' },
      })
    })

    test('an identical request means the same call for the requested time', async () => {
      const [one, other] = await open()
      const entry = await claimed(one)
      await one.recordPlaced(entry, 'call-1')
      expect(await other.find(identity({ sameForMs: hourMs }))).toMatchObject({ callId: 'call-1' })
      await new Promise((resolve) => setTimeout(resolve, 30))
      expect(await other.find(identity({ sameForMs: 10 }))).toBeUndefined()
      const next = await claimed(other, { sameForMs: 10 })
      expect(next.externalId).not.toBe(entry.externalId)
      // The newest entry decides. A call of unknown outcome stays the same call at any age.
      await new Promise((resolve) => setTimeout(resolve, 30))
      expect(await one.claim(identity({ sameForMs: 10 }))).toMatchObject({
        kind: 'theirs',
        entry: { externalId: next.externalId },
      })
    })

    test('a request that placed no call does not hide an identical one that did', async () => {
      const [one, other] = await open()
      const placed = await claimed(one, { externalId: undefined })
      await one.recordPlaced(placed, 'call-1')
      await new Promise((resolve) => setTimeout(resolve, 30))
      await one.release(await claimed(other, { sameForMs: 10 }))
      expect(await other.claim(identity())).toMatchObject({
        kind: 'theirs',
        entry: { callId: 'call-1' },
      })
    })

    test('returns the time since a call was placed', async () => {
      const [one, other] = await open()
      await one.recordPlaced(await claimed(one), 'call-1')
      const agoMs = await other.placedAgoMs(identity().owner, 'call-1')
      expect(agoMs).toBeGreaterThanOrEqual(-1)
      expect(agoMs).toBeLessThan(10_000)
      expect(await other.placedAgoMs(identity().owner, 'call-2')).toBeUndefined()
      expect(await other.placedAgoMs('another', 'call-1')).toBeUndefined()
    })

    test('an unknown entry is not found, and changes nothing', async () => {
      const [one] = await open()
      const stranger: JournalEntry = {
        owner: 'nobody',
        externalId: 'none',
        state: 'sending',
        stamp: 1,
        firstSentAt: 1,
        callId: null,
      }
      expect(await one.current(stranger)).toBeUndefined()
      expect(await one.beginSending(stranger, 1000)).toBeUndefined()
      await one.recordPlaced(stranger, 'call-1')
      await one.release(stranger)
      expect(await one.current(stranger)).toBeUndefined()
    })

    test('a note written by one server is read by the other, and the last write wins', async () => {
      const [one, other] = await open()
      expect(await one.readNote('a name')).toBeUndefined()
      await one.writeNote('a name', 'first')
      await other.writeNote('a name', 'second')
      expect(await one.readNote('a name')).toBe('second')
      expect(await one.readNote('another')).toBeUndefined()
    })
  })
}

/** One journal for two servers, with a settable clock. */
export interface ClockedJournals {
  readonly journals: readonly [Journal, Journal]
  setClockBack(byMs: number): Promise<void>
}

/** Tests that every journal must pass after its clock was set back while a call was sent. */
export function describeJournalAfterClockStep(
  name: string,
  open: () => Promise<ClockedJournals>,
): void {
  describe(`a journal ${name}, after its clock was set back by an hour`, () => {
    const sentCall = async () => {
      const { journals, setClockBack } = await open()
      const [one, other] = journals
      const claim = await one.claim(identity())
      if (claim.kind !== 'mine') throw new Error('another caller has it')
      const sent = await one.beginSending(claim.entry, 1000)
      if (!sent) throw new Error('another caller holds it')
      return { one, other, sent, setClockBack: () => setClockBack(hourMs) }
    }

    test('sets one new deadline, and measures the time since it', async () => {
      const { one, other, sent, setClockBack } = await sentCall()
      await setClockBack()
      expect(await other.current(sent)).toMatchObject({ sinceDeadlineMs: -longestSendMs })
      await new Promise((resolve) => setTimeout(resolve, 50))
      for (const journal of [one, other]) {
        const later = (await journal.current(sent))?.sinceDeadlineMs
        expect(later).toBeGreaterThan(-longestSendMs + 30)
        expect(later).toBeLessThan(-longestSendMs / 2)
      }
    })

    test('does not move the time of the first send to the new deadline', async () => {
      const { one, other, sent, setClockBack } = await sentCall()
      await setClockBack()
      for (const journal of [other, one]) {
        const firstSentAt = (await journal.current(sent))?.firstSentAt
        expect(firstSentAt).toBeLessThan(sent.firstSentAt + uptimeMs)
        expect(firstSentAt).toBeGreaterThan(sent.firstSentAt - hourMs - 1000)
      }
    })

    test('lets one caller take the call over, and returns the time since its deadline', async () => {
      const { one, other, sent, setClockBack } = await sentCall()
      await setClockBack()
      const read = await other.current(sent)
      if (!read) throw new Error('the entry is gone')
      const taken = await other.beginSending(read, 5000)
      if (!taken) throw new Error('another caller holds it')
      expect(await one.beginSending(sent, 5000)).toBeUndefined()
      expect(await one.beginSending(read, 5000)).toBeUndefined()
      await other.endSending(taken)
      const since = (await one.current(taken))?.sinceDeadlineMs
      expect(since).toBeGreaterThanOrEqual(-2)
      expect(since).toBeLessThan(5000)
    })

    test('lets a released call be claimed again', async () => {
      const { one, other, sent, setClockBack } = await sentCall()
      await one.release(sent)
      await setClockBack()
      const claim = await other.claim(identity({ externalId: sent.externalId }))
      if (claim.kind !== 'mine') throw new Error(`the claim is ${claim.kind}`)
      const since = (await one.current(claim.entry))?.sinceDeadlineMs
      expect(since).toBeGreaterThanOrEqual(-2)
      expect(since).toBeLessThan(5000)
    })
  })
}
