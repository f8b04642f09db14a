/**
 * A domain becomes active when the parent zone names exactly its pair. It is followed when it moves
 * away, and a claim alone takes nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Check, Domain } from '../../contract/dns.ts'
import { dig } from '../../test/dig.ts'
import {
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { days, hours, minutes } from '../platform/clock.ts'
import { isAnsweredFor } from './store.ts'

const clock = manualClock()
let portal: TestPortal
type Person = { -readonly [K in keyof TestCustomer]: TestCustomer[K] }
const people: Person[] = []
let an: Person
let binh: Person
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  an = await person()
  binh = await person()
})
afterAll(() => portal.close())

async function person(): Promise<Person> {
  const made = { ...(await portal.customer()) }
  people.push(made)
  return made
}
/** Advances the clock and signs everybody in again. */
async function travel(ms: number): Promise<void> {
  clock.advance(ms)
  for (const one of people) {
    const { email, password } = one
    const signedIn = await portal.call<{ token: { accessToken: string } }>(
      'POST',
      '/api/v1/auth/login',
      { body: { email, password } },
    )
    one.token = signedIn.body.result.token.accessToken
  }
}
let names = 0
const fresh = (): string => `verify${++names}.com`
const call = <T>(method: string, path: string, body?: unknown, who = an) =>
  portal.call<T>(method, path, { token: who.token, ...(body !== undefined && { body }) })
async function claim(name: string, who = an): Promise<Domain> {
  const made = await call<Domain>('POST', '/api/dns', { name }, who)
  if (made.status !== 201) throw new Error(made.text)
  return made.body.result
}
/** Delegates as the name's owner does at the registrar. */
async function delegate(name: string, nameservers: readonly string[]): Promise<void> {
  const answer = await fetch(`${portal.sandboxUrl}/registry.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, nameservers }),
  })
  if (!answer.ok) throw new Error(await answer.text())
}
const check = async (name: string, who = an): Promise<Check> =>
  (await call<Check>('GET', `/api/dns/check?domain=${encodeURIComponent(name)}`, undefined, who))
    .body.result
const read = async (domain: Domain, who = an): Promise<Domain> =>
  (await call<Domain>('GET', `/api/dns/${domain.id}`, undefined, who)).body.result
const record = (domain: Domain, content: string, who: Person) =>
  call('POST', `/api/dns/${domain.id}/records`, { name: 'www', type: 'A', content, ttl: 300 }, who)
const answers = async (name: string): Promise<string> => {
  const { rcode, answer } = await dig(portal.config.DNS_PORT, { name, type: 'A' })
  return answer.map((line) => line.split(' ').at(-1)).join() || rcode
}
const told = async (who: Person): Promise<string[]> =>
  (
    await call<{ data: { event: string; title: string }[] }>(
      'GET',
      '/api/notifications',
      undefined,
      who,
    )
  ).body.result.data
    .filter(({ event }) => event === 'dns.status')
    .map(({ title }) => title)
/** Two of our name servers that are no account's pair. */
async function pairOfNobody(): Promise<string[]> {
  const [mine, theirs] = [await claim(fresh()), await claim(fresh(), binh)]
  return portal.config.DNS_NAME_SERVERS.filter(
    (name) => ![...mine.nameserver, ...theirs.nameserver].includes(name),
  ).slice(0, 2)
}
/** The job does this every minute. */
const checkDue = () => portal.app.dns.verifier.checkDue()

describe('activation', () => {
  test('not registered, elsewhere, half, and then exactly ours', async () => {
    const name = fresh()
    const domain = await claim(name)
    expect(await check(name)).toMatchObject({
      isValid: false,
      reason: 'not_registered',
      expected: domain.nameserver.toSorted(),
      found: [],
    })
    await delegate(name, ['ns1.elsewhere.net', 'ns2.elsewhere.net'])
    const elsewhere = await check(name)
    expect(elsewhere).toMatchObject({
      isValid: false,
      reason: 'other_nameservers',
      found: ['ns1.elsewhere.net', 'ns2.elsewhere.net'],
    })
    expect(elsewhere.advice).toContain(domain.nameserver[0])
    await delegate(name, [...domain.nameserver, 'ns1.elsewhere.net'])
    expect(await check(name)).toMatchObject({ isValid: false, reason: 'extra_nameservers' })
    expect((await read(domain)).active).toBe(false)
    await delegate(name, domain.nameserver)
    expect(await check(name)).toMatchObject({ isValid: true, found: domain.nameserver.toSorted() })
    expect(await read(domain)).toMatchObject({
      active: true,
      verification: {
        found: domain.nameserver.toSorted(),
        checkedAt: expect.any(String) as string,
      },
    })
    await expect.poll(() => told(an)).toEqual([`Domain ${name} is active`])
  })

  test('advice in Vietnamese; a public suffix; an IDN as typed', async () => {
    const name = `chào${++names}.vn`
    const domain = await claim(name)
    const vi = await portal.call<Check>(
      'GET',
      `/api/dns/check?domain=${encodeURIComponent(name)}`,
      {
        token: an.token,
        headers: { 'accept-language': 'vi' },
      },
    )
    expect(vi.body.result.advice).toMatch(/tên miền/i)
    expect(await check('com.vn')).toMatchObject({ isValid: false, reason: 'public_suffix' })
    await delegate(domain.ascii, domain.nameserver)
    expect(await check(name)).toMatchObject({ isValid: true })
  })

  test('by itself, with growing gaps, until 28 days have passed', async () => {
    const late = await claim(fresh())
    const never = await claim(fresh())
    await travel(minutes(2))
    await checkDue()
    expect((await read(late)).verification.checkedAt).not.toBeNull()
    await delegate(late.name, late.nameserver)
    expect((await read(late)).active).toBe(false)
    await travel(days(1))
    await checkDue()
    expect((await read(late)).active).toBe(true)
    await travel(days(30))
    await checkDue()
    const last = (await read(never)).verification.checkedAt
    await travel(days(30))
    await checkDue()
    expect((await read(never)).verification.checkedAt).toBe(last)
  })

  test('too many questions are refused for a while', async () => {
    const who = await person()
    const domain = await claim(fresh(), who)
    const statuses = await Promise.all(
      Array.from(
        { length: 40 },
        async () =>
          (await call('GET', `/api/dns/check?domain=${domain.name}`, undefined, who)).status,
      ),
    )
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
  })
})

describe('who may have a name', () => {
  test('one that another account has active is refused, and so is what lies below it', async () => {
    const domain = await claim(fresh())
    const pending = await claim(domain.name, binh)
    await record(domain, '203.0.113.1', an)
    await record(pending, '198.51.100.66', binh)
    const below = await claim(`login.${domain.name}`, binh)
    await record(below, '198.51.100.66', binh)
    await delegate(domain.name, domain.nameserver)
    expect(await check(domain.name)).toMatchObject({ isValid: true })
    await expect.poll(() => answers(`www.${domain.name}`)).toBe('203.0.113.1')
    await expect.poll(() => answers(`www.login.${domain.name}`)).toBe('NXDOMAIN')
    const third = await person()
    for (const name of [domain.name, `shop.${domain.name}`]) {
      const refused = await call('POST', '/api/dns', { name }, third)
      expect(refused).toMatchObject({
        status: 409,
        body: { error: { code: 'conflict', fields: { name: expect.any(String) as string } } },
      })
    }
    // The two pairs may share a name.
    expect(['other_nameservers', 'extra_nameservers']).toContain(
      (await check(domain.name, binh)).reason,
    )
    expect((await read(domain)).active).toBe(true)
  })

  test('a name let go of while delegated to us is not answered for the next claim', async () => {
    const domain = await claim(fresh())
    await record(domain, '203.0.113.1', an)
    await delegate(domain.name, domain.nameserver)
    expect(await check(domain.name)).toMatchObject({ isValid: true })
    await call('DELETE', `/api/dns/${domain.id}`)
    await expect.poll(() => answers(`www.${domain.name}`)).toBe('REFUSED')
    const thief = await claim(domain.name, binh)
    expect(thief.nameserver).not.toEqual(domain.nameserver)
    await record(thief, '198.51.100.66', binh)
    expect((await check(domain.name, binh)).isValid).toBe(false)
    expect(await answers(`www.${domain.name}`)).toBe('REFUSED')
    const back = await claim(domain.name)
    expect(back.nameserver).not.toEqual(domain.nameserver)
    await delegate(domain.name, back.nameserver)
    expect(await check(domain.name)).toMatchObject({ isValid: true })
    expect(await check(domain.name, binh)).toMatchObject({ isValid: false })
  })

  test('a name delegated to us before any claim is not answered for the first claim', async () => {
    const name = fresh()
    await delegate(name, await pairOfNobody())
    const thief = await claim(name, binh)
    await record(thief, '198.51.100.66', binh)
    await expect.poll(() => answers(`www.${name}`)).toBe('REFUSED')
  })
})

describe('a domain below another one', () => {
  test('is proven by the NS records of the one above, not by our own answer', async () => {
    const above = await claim(fresh())
    const below = await claim(`eu.${above.name}`)
    await delegate(above.name, above.nameserver)
    // Delegated to us, but not active yet: our name servers' answers about the name below prove
    // nothing.
    expect(await check(below.name)).toMatchObject({ isValid: false, reason: 'not_registered' })
    expect(await check(above.name)).toMatchObject({ isValid: true })
    const asked = await check(below.name)
    expect(asked).toMatchObject({ isValid: false, reason: 'not_registered', found: [] })
    expect(asked.advice).toContain(
      `give the name eu exactly these NS records: ${below.nameserver.toSorted().join(', ')}`,
    )
    for (const content of below.nameserver)
      await call('POST', `/api/dns/${above.id}/records`, {
        name: 'eu',
        type: 'NS',
        content,
        ttl: 300,
      })
    expect(await check(below.name)).toMatchObject({
      isValid: true,
      found: below.nameserver.toSorted(),
    })
    await record(below, '203.0.113.5', an)
    await expect.poll(() => answers(`www.${below.name}`)).toBe('203.0.113.5')
  })

  test('of a name delegated to us without any claim is not given to whoever asks', async () => {
    const name = fresh()
    await delegate(name, await pairOfNobody())
    const thief = await claim(`login.${name}`, binh)
    await record(thief, '198.51.100.66', binh)
    const asked = await check(thief.name, binh)
    expect(asked).toMatchObject({ isValid: false, reason: 'not_registered' })
    expect(asked.advice).toContain(name)
    await expect.poll(() => answers(`www.${thief.name}`)).toBe('REFUSED')
  })

  test('at a stranger is asked of the stranger', async () => {
    const name = fresh()
    const below = await claim(`eu.${name}`)
    expect(await check(below.name)).toMatchObject({ isValid: false, reason: 'not_registered' })
  })
})

test('a zone that moved away proves no domain below it', async () => {
  const who = await person()
  const domain = await claim(fresh(), who)
  await delegate(domain.name, domain.nameserver)
  expect(await check(domain.name, who)).toMatchObject({ isValid: true })
  const below = async (label: string): Promise<Domain> => {
    const made = await claim(`${label}.${domain.name}`, who)
    for (const content of made.nameserver) {
      const body = { name: label, type: 'NS', content, ttl: 300 }
      expect((await call('POST', `/api/dns/${domain.id}/records`, body, who)).status).toBe(201)
    }
    return made
  }
  const before = await below('truoc')
  expect(await check(before.name, who)).toMatchObject({ isValid: true })
  const isOwn = (name: string) => isAnsweredFor(portal.app.db, who.id, name)
  expect(await isOwn(before.name)).toBe(true)
  await delegate(domain.name, ['ns1.elsewhere.net', 'ns2.elsewhere.net'])
  await travel(days(1) + hours(1))
  await check(domain.name, who)
  await travel(hours(2))
  await check(domain.name, who)
  expect(await read(domain, who)).toMatchObject({ active: true, movedAt: expect.any(String) })
  expect(await isOwn(`www.${before.name}`)).toBe(false)
  // One miss leaves the domain active, but its ownership is not proven.
  await travel(minutes(1))
  expect(await check(before.name, who)).toMatchObject({ isValid: false })
  expect(await read(before, who)).toMatchObject({ active: true })
  expect(await isOwn(`www.${before.name}`)).toBe(false)
  const after = await below('sau')
  expect(await check(after.name, who)).toMatchObject({ isValid: false })
  expect(await read(after, who)).toMatchObject({ active: false })
})

test('an active domain that moves away is marked, told, and waits again after a week', async () => {
  const who = await person()
  const domain = await claim(fresh(), who)
  await delegate(domain.name, domain.nameserver)
  expect(await check(domain.name, who)).toMatchObject({ isValid: true })
  await delegate(domain.name, ['ns1.elsewhere.net', 'ns2.elsewhere.net'])
  await travel(days(1) + hours(1))
  await Promise.all([checkDue(), checkDue(), check(domain.name, who)])
  expect(await read(domain, who)).toMatchObject({ active: true, movedAt: null })
  await travel(hours(2))
  await checkDue()
  expect(await read(domain, who)).toMatchObject({
    active: true,
    movedAt: expect.any(String) as string,
  })
  await travel(days(8))
  await checkDue()
  expect(await read(domain, who)).toMatchObject({ active: false, movedAt: null })
  await expect.poll(() => told(who)).toHaveLength(3)
  expect(await told(who)).toEqual([
    `Domain ${domain.name} is no longer active`,
    `Domain ${domain.name} now uses other name servers`,
    `Domain ${domain.name} is active`,
  ])
  await delegate(domain.name, domain.nameserver)
  expect(await check(domain.name, who)).toMatchObject({ isValid: true })
})

test('one that moved away and came back within the week is told of both', async () => {
  const who = await person()
  const domain = await claim(fresh(), who)
  await delegate(domain.name, domain.nameserver)
  await check(domain.name, who)
  await delegate(domain.name, ['ns1.elsewhere.net', 'ns2.elsewhere.net'])
  await travel(days(1) + hours(1))
  await checkDue()
  await travel(hours(2))
  await checkDue()
  expect((await read(domain, who)).movedAt).not.toBeNull()
  await delegate(domain.name, domain.nameserver)
  await travel(hours(2))
  await checkDue()
  expect(await read(domain, who)).toMatchObject({ active: true, movedAt: null })
  await travel(days(1) + hours(1))
  await checkDue()
  await expect
    .poll(() => told(who))
    .toEqual([
      `Domain ${domain.name} is active`,
      `Domain ${domain.name} now uses other name servers`,
      `Domain ${domain.name} is active`,
    ])
})

test('one that lapsed long after it was claimed is active by itself when it is back', async () => {
  const who = await person()
  const [back, never] = [await claim(fresh(), who), await claim(fresh(), who)]
  for (const { name, nameserver } of [back, never]) {
    await delegate(name, nameserver)
    expect(await check(name, who)).toMatchObject({ isValid: true })
  }
  await travel(days(365))
  for (const { name } of [back, never]) await delegate(name, [])
  for (const ms of [hours(1), hours(2), days(8)]) {
    await checkDue()
    await travel(ms)
  }
  await checkDue()
  expect(await read(back, who)).toMatchObject({ active: false, movedAt: null })
  await travel(days(20))
  await delegate(back.name, back.nameserver)
  await checkDue()
  expect(await read(back, who)).toMatchObject({ active: true })
  // The other domain is not checked any more after its 28 days.
  await travel(days(9))
  await checkDue()
  const last = (await read(never, who)).verification.checkedAt
  await travel(days(30))
  await checkDue()
  expect((await read(never, who)).verification.checkedAt).toBe(last)
})

test('one that lapsed under an earlier release is looked at again', async () => {
  const who = await person()
  const one = await claim(fresh(), who)
  await delegate(one.name, one.nameserver)
  expect(await check(one.name, who)).toMatchObject({ isValid: true })
  // The state that release 2 left.
  await portal.app.db
    .updateTable('dns_zone')
    .set({ active_at: null, pending_since: null, next_check_at: null })
    .where('id', '=', one.id)
    .execute()
  await travel(hours(1))
  await checkDue()
  await travel(hours(12))
  await checkDue()
  expect(await read(one, who)).toMatchObject({ active: true })
})

describe('a domain that changed hands', () => {
  test('is activated by its new owner, who names the new pair at the parent', async () => {
    const name = fresh()
    const old = await claim(name, binh)
    await delegate(name, old.nameserver)
    expect((await check(name, binh)).isValid).toBe(true)
    expect((await call('DELETE', `/api/dns/${old.id}`, undefined, binh)).status).toBe(200)
    const mine = await claim(name)
    await record(mine, '203.0.113.8', an)
    // Still delegated to the former owner's pair: a claim alone is not served.
    expect((await check(name)).isValid).toBe(false)
    expect(await answers(name)).toBe('REFUSED')
    await delegate(name, mine.nameserver)
    expect(await check(name)).toMatchObject({ isValid: true })
    expect((await read(mine)).active).toBe(true)
  })

  test('stays with a former owner who has it active, and the advice says why', async () => {
    const name = fresh()
    const [first, second] = [await claim(name, binh), await claim(name)]
    await delegate(name, first.nameserver)
    expect(await check(name, binh)).toMatchObject({ isValid: true })
    await delegate(name, second.nameserver)
    // Until all of the parent's servers agree, the advice is to wait.
    await expect
      .poll(() => check(name), { interval: 500 })
      .toMatchObject({
        isValid: false,
        found: [...second.nameserver].toSorted(),
        advice: expect.stringContaining('another account still has it active') as string,
      })
    expect((await read(first, binh)).active).toBe(true)
    // It is checked automatically, less and less often.
    const nextCheck = async (): Promise<number> => {
      const row = await portal.app.db
        .selectFrom('dns_zone')
        .select('next_check_at')
        .where('id', '=', second.id)
        .executeTakeFirstOrThrow()
      return (row.next_check_at?.getTime() ?? 0) - clock.now().getTime()
    }
    const sooner = await nextCheck()
    expect((await check(name)).isValid).toBe(false)
    expect(await nextCheck()).toBeGreaterThan(sooner)
    expect((await read(second)).verification.checkedAt).not.toBeNull()
    // Once the other account has lost it, this one need not wait for its next check.
    for (const ms of [hours(25), hours(2), days(7)]) {
      await travel(ms)
      await checkDue()
    }
    expect((await read(first, binh)).active).toBe(false)
    await checkDue()
    expect((await read(second)).active).toBe(true)
  })
})
