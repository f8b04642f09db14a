/** The operator's commands, in their own processes beside a running portal. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serverProgram } from '../../scripts/bootstrap.mjs'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { eventually, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { systemClock } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { createLedger } from '../wallet/index.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
})
afterAll(() => portal.close())

const command = (...args: string[]) => commandWith({}, ...args)

function commandWith(
  other: NodeJS.ProcessEnv,
  ...args: string[]
): Promise<{ code: number | null; said: string }> {
  const root = path.resolve(import.meta.dirname, '../..')
  const env = {
    ...process.env,
    NODE_ENV: 'test',
    DATABASE_URL: portal.databaseUrl,
    DATA_DIR: portal.dataDir,
    PORT: String(portal.config.PORT),
    SANDBOX_PORT: String(portal.config.SANDBOX_PORT),
    PORTAL_SECRET: portal.rootSecret,
    LOG_LEVEL: 'silent',
    ENV_FILE: os.devNull,
    ...other,
  }
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', serverProgram('command'), ...args],
    {
      cwd: root,
      env,
    },
  )
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  return new Promise((resolve) => child.on('exit', (code) => resolve({ code, said })))
}

test('a fault of the settings and a failure on the way have exit codes of their own', async () => {
  const configuration = await commandWith({ PORT: 'eighty' }, 'ledger:check')
  expect(configuration).toEqual({ code: 78, said: 'PORT must be a port from 1 to 65535.\n' })
  // No version is published yet, so the file of this machine counts.
  const catalogue = await commandWith({ CATALOG: '/nowhere/catalog.yaml' }, 'reconcile')
  expect(catalogue).toEqual({
    code: 78,
    said: 'The catalogue /nowhere/catalog.yaml cannot be read.\n',
  })
  await sql`insert into schema_migration values ('9001_less', 99, now())`.execute(portal.app.db)
  const older = await command('migrate', '--json')
  await sql`delete from schema_migration where name = '9001_less'`.execute(portal.app.db)
  expect(older.code).toBe(78)
  expect(JSON.parse(older.said)).toMatchObject({
    oldestRelease: 99,
    error: expect.stringContaining('changed for release 99 or newer (by 9001_less)') as string,
  })
  expect(
    await commandWith({ DATABASE_URL: 'postgres://127.0.0.1:1/nothing' }, 'ledger:check'),
  ).toMatchObject({ code: 70 })
})

test('an unknown command names those there are', async () => {
  const { code, said } = await command('nonsense')
  expect(code).toBe(64)
  expect(said).toMatch(/ledger:check[\s\S]*reconcile[\s\S]*refund/)
})

test('help is no fault, and every command has it', async () => {
  for (const args of [['help'], ['--help'], []]) {
    const { code, said } = await command(...args)
    expect([code, said]).toEqual([0, expect.stringMatching(/jobs[\s\S]*ledger:check/)])
  }
  const names = [
    'clock',
    'jobs',
    'ledger:check',
    'mail',
    'migrate',
    'reconcile',
    'refund',
    'suspense',
  ]
  for (const name of names)
    expect(await command(name, '--help'), name).toMatchObject({
      code: 0,
      said: expect.stringContaining(`${name}: `) as string,
    })
})

test('with --json a command answers one object', async () => {
  const objectOf = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await command(...args, '--json')).said) as unknown
  expect(await objectOf('ledger:check')).toMatchObject({ whole: true, findings: [] })
  expect(await objectOf('suspense')).toMatchObject({ waiting: expect.any(Array) as unknown[] })
  expect(await objectOf('reconcile')).toMatchObject({ days: 7, differences: [] })
  expect(await objectOf('refund', 'NOSUCHCODE')).toEqual({
    error: expect.stringContaining('NOSUCHCODE') as string,
  })
  expect(await objectOf('jobs')).toMatchObject({ givenUp: [] })
  expect(await objectOf('migrate', '--plan')).toMatchObject({ oldestRelease: 1, missing: [] })
})

test('the first catalogue of a database needs nobody else, and once is enough', async () => {
  expect((await command('catalog', 'use', '--dry-run')).said).toContain('Nothing was changed.')
  const first = await command('catalog', 'use')
  expect([first.code, first.said]).toEqual([0, expect.stringMatching(/in use, as version \d+\.$/m)])
  expect(await command('catalog', 'use')).toEqual(first)
})

test('jobs that gave up are named, and started again', async () => {
  await sql`
    insert into pgboss.job (name, data, state, output, retry_count, completed_on)
    values ('ensure-site', '{"siteId":"5b5f8a70-0000-4000-8000-000000000000"}', 'failed',
      '{"message":"the runtime did not answer"}', 3, now())`.execute(portal.app.db)
  const listed = await command('jobs')
  expect(listed.code).toBe(1)
  expect(listed.said).toMatch(/ensure-site +0 waiting .* 1 given up/)
  expect(listed.said).toMatch(/after 4 attempts {2}\{"siteId":.*the runtime did not answer/)
  expect(await command('jobs', 'retry')).toMatchObject({ code: 64 })
  expect(await command('jobs', 'retry', '--queue', 'ensure-site')).toEqual({
    code: 0,
    said: '1 started again.\n',
  })
  expect((await command('acts')).said).toMatch(
    / command {2}work\.retry_jobs {2}queue ensure-site {2}started again by command$/m,
  )
  await jobsIdle(portal.app.db)
  const { rows } = await sql<{ id: string }>`
    insert into pgboss.job (name, data, state, output, retry_count, completed_on)
    values ('ensure-site', '{"siteId":"5b5f8a70-0000-4000-8000-000000000000"}', 'failed',
      '{"message":"the runtime did not answer"}', 3, now()) returning id`.execute(portal.app.db)
  const id = rows[0]?.id ?? ''
  expect(
    await command('jobs', 'retry', id, randomUUID(), '--reason', 'the runtime is back'),
  ).toEqual({ code: 0, said: '1 started again.\n' })
  const { acts } = JSON.parse((await command('acts', '--json')).said) as { acts: object[] }
  expect(acts[0]).toMatchObject({
    act: 'work.retry_job',
    subject: { kind: 'job', id },
    reason: 'the runtime is back',
    before: { job: 'given_up' },
    after: { job: 'waiting' },
  })
  await jobsIdle(portal.app.db)
  expect(await command('jobs', 'retry', '--all')).toEqual({
    code: 1,
    said: 'No such job gave up.\n',
  })
  expect((await portal.call('GET', '/metrics')).text).not.toMatch(/^portal_jobs_given_up\{.*[1-9]/m)
})

test('reconcile finds nothing where all agree, and names what does not', async () => {
  const an = await portal.customer()
  const { transactionCode } = await portal.topUp(an, 100_000)
  await eventually(
    'the top-up',
    async () =>
      (await portal.call<{ balance: number }>('GET', '/api/v1/auth/me', { token: an.token })).body
        .result.balance === 100_000,
  )
  const { content, accountNumber } = await transfer(an.token)
  await fetch(`${portal.sandboxUrl}/bank/app`, {
    method: 'POST',
    body: new URLSearchParams({ account: accountNumber, amount: '70000', content }),
  })
  const well = await command('reconcile', '1')
  expect(well).toEqual({
    code: 0,
    said: '1 days: 2 payments, 2 postings, 2 asked about: 0 differences.\n',
  })

  // The minutely list of movements would find the missed webhook first.
  await sql`delete from pgboss.schedule where name like '%movements%'`.execute(portal.app.db)
  await jobsIdle(portal.app.db)
  // Money without a code, a missed webhook, and a payment changed by hand.
  const pay = (fields: Record<string, string>) =>
    fetch(`${portal.sandboxUrl}/bank/app`, { method: 'POST', body: new URLSearchParams(fields) })
  await pay({ account: accountNumber, amount: '11000', content: 'no code' })
  await pay({ account: accountNumber, amount: '22000', content, notice: 'lost' })
  await sql`update payment set received = received + 1 where code = ${transactionCode}`.execute(
    portal.app.db,
  )
  const { code, said } = await command('reconcile')
  expect(code).toBe(1)
  expect(said).toMatch(/bank .* 11000 VND .* wait in suspense: unknown_order/)
  expect(said).toMatch(/bank .* 22000 VND .* arrived at the gateway, and nothing was posted/)
  expect(said).toMatch(
    new RegExp(
      `vnpay  ${transactionCode}  says that 100001 VND .* came, and the ledger holds 100000 VND`,
    ),
  )
})

test('refund gives back through the portal that runs, and refuses with a sentence', async () => {
  const an = await portal.customer()
  const { transactionCode } = await portal.topUp(an, 90_000)
  expect(await command('refund', transactionCode, '40000', 'asked', 'by', 'phone')).toMatchObject({
    code: 0,
  })
  const refunds = () =>
    sql<{ status: string; reason: string }>`select status, reason from payment_refund`.execute(
      portal.app.db,
    )
  const [row] = await eventually('the refund', async () => {
    const { rows } = await refunds()
    return rows[0]?.status === 'done' && rows
  })
  // The customer reads of the refund; its reason is in the trail only.
  expect(row?.reason).toBe('refund')
  const acts = await command('acts')
  expect(acts.said).toMatch(/ command {2}money\.refund .* asked by phone$/m)
  const again = await command('refund', transactionCode, '60000')
  expect(again).toEqual({
    code: 1,
    said: `Of the payment ${transactionCode} 50000 are left to give back.\n`,
  })
  expect((await command('refund')).code).toBe(64)
  await portal.ledgerHolds()
})

test('a command that moves money and is given again by mistake moves it once', async () => {
  const an = await portal.customer()
  const { transactionCode } = await portal.topUp(an, 90_000)
  const balance = async () => (await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance
  const refused = {
    code: 1,
    said: expect.stringMatching(/The same was done at .*--again/) as string,
  }
  const refund = ['refund', transactionCode, '20000'] as const
  expect(await command(...refund, 'asked', 'by', 'phone')).toMatchObject({ code: 0 })
  expect(await command(...refund, 'asked', 'by', 'mail')).toMatchObject(refused)
  expect(await balance()).toBe(70_000n)
  // Another amount is another refund, and `--again` says that it is no mistake.
  expect(await command('refund', transactionCode, '10000')).toMatchObject({ code: 0 })
  expect(await command(...refund, '--again')).toMatchObject({ code: 0 })
  expect(await balance()).toBe(40_000n)
  const credit = ['act', 'money.credit', '--customer', an.id, '--amount', '5000']
  const words = ['--currency', 'VND', '--told', 'For the trouble', '--reason', 'a goodwill credit']
  expect(await command(...credit, ...words)).toMatchObject({ code: 0 })
  expect(await command(...credit, ...words)).toMatchObject(refused)
  expect(await command(...credit, ...words, '--key', 'goodwill-1')).toMatchObject({ code: 0 })
  expect(await command(...credit, ...words, '--key', 'goodwill-1')).toMatchObject({
    code: 0,
    said: expect.stringContaining('Done before, under this key') as string,
  })
  expect(await balance()).toBe(50_000n)
  await portal.ledgerHolds()
})

test('what waits for approval is not proposed again by a repeated command', async () => {
  const an = await portal.customer()
  const credit = ['act', 'money.credit', '--customer', an.id, '--amount', '900000000']
  const words = ['--currency', 'VND', '--told', 'For the trouble', '--reason', 'a large credit']
  expect(await command(...credit, ...words)).toMatchObject({
    code: 0,
    said: expect.stringContaining('It waits for a member of the staff') as string,
  })
  const waits = {
    code: 1,
    said: expect.stringMatching(/proposed and waits for approval/) as string,
  }
  expect(await command(...credit, ...words)).toMatchObject(waits)
  // Of a refund of all that is left, too, whose proposal names the amount.
  const { transactionCode } = await portal.topUp(an, 60_000_000)
  expect(await command('refund', transactionCode)).toMatchObject({ code: 0 })
  expect(await command('refund', transactionCode)).toMatchObject(waits)
})

test('suspense lists what waits, and gives it to one customer once', async () => {
  const an = await portal.customer()
  const update = {
    eventId: 'parked',
    providerTransactionId: 'parked',
    status: 'succeeded',
    amount: 33_000n,
  } as const
  const tell = (reference: string) =>
    portal.app.topUps.settlement.settle(
      { name: 'vnpay', displayName: 'VNPay', credits: 'exact' },
      { ...update, reference, currency: 'VND', occurredAt: null, detail: '' },
    )
  await tell('NOBODYS')
  const { said } = await command('suspense')
  const number =
    /^(\d+) .* vnpay {2}33000 VND {2}unknown_order {2}NOBODYS {2}parked$/m.exec(said)?.[1] ?? ''
  expect(said).toMatch(/\d+ wait in suspense\.\n$/)
  expect(await command('suspense', 'assign', number, 'nobody@example.vn')).toMatchObject({
    code: 1,
  })
  const australian = await portal.customer({ region: 'AUD' })
  expect(await command('suspense', 'assign', number, australian.email)).toMatchObject({ code: 1 })
  const assigned = await command('suspense', 'assign', number, an.email)
  expect(assigned.code).toBe(0)
  expect(assigned.said).toMatch(/^Done: act \d+\.$/m)
  expect(await command('suspense', 'assign', number, an.email)).toEqual({
    code: 1,
    said: `What waited under the number ${number} is decided already.\n`,
  })
  const shown = await portal.call<{ amount: number; description: string }[]>(
    'GET',
    '/api/payments/stripe',
    { token: an.token },
  )
  expect(shown.body.result).toMatchObject([{ amount: 33_000, description: 'Top-up via VNPay' }])
  const told = await sql<{ n: bigint }>`
    select count(*) as n from notification where customer_id = ${an.id}
    and event = 'wallet.credited'`.execute(portal.app.db)
  expect(told.rows[0]?.n).toBe(1n)
  expect((await command('suspense')).said).not.toContain('NOBODYS')
  // The gateway reports the customer late: the money was assigned already.
  const { transactionCode } = await portal.topUp(an, 33_000, 'cancelled')
  expect(await tell(transactionCode)).toMatchObject({ outcome: 'already' })
  expect(
    (await portal.call<object[]>('GET', '/api/payments/stripe', { token: an.token })).body.result,
  ).toHaveLength(1)
  expect((await command('suspense', 'assign', number)).code).toBe(64)
  expect(await command('suspense', 'return', number)).toEqual({
    code: 1,
    said: `What waited under the number ${number} is decided already.\n`,
  })
  expect((await command('suspense', 'return', number, 'now')).code).toBe(64)
  await portal.ledgerHolds()
})

test('refund:decide ends a refund that has no answer, as it was found out', async () => {
  const an = await portal.customer()
  const balance = async () =>
    (await portal.call<{ balance: number }>('GET', '/api/v1/auth/me', { token: an.token })).body
      .result.balance
  const { transactionCode } = await portal.topUp(an, 90_000)
  /** The state that the job leaves if the gateway never answers. */
  const left = (status: 'unclear' | 'requested'): Promise<string> =>
    transaction(portal.app.db, async (tx) => {
      const payment = await tx
        .selectFrom('payment')
        .selectAll()
        .where('code', '=', transactionCode)
        .executeTakeFirstOrThrow()
      const [id, amount] = [randomUUID(), 30_000n]
      const details = { provider: 'VNPay', code: transactionCode }
      const of = {
        key: `refund:${id}`,
        customerId: an.id,
        driver: 'vnpay',
        amount,
        currency: 'VND',
        details,
      } as const
      await createLedger(systemClock).withhold(tx, of)
      await tx
        .insertInto('payment_refund')
        .values({
          id,
          payment_id: payment.id,
          amount,
          reason: 'asked',
          status,
          created_at: systemClock.now(),
        })
        .execute()
      return id
    })
  const [gone, kept, asking] = [
    await left('unclear'),
    await left('unclear'),
    await left('requested'),
  ]
  expect(await balance()).toBe(0)
  const done = await command('refund:decide', gone, 'done')
  expect(done.code).toBe(0)
  expect(done.said).toMatch(/^Done: act \d+\.$/m)
  expect(await command('refund:decide', gone, 'refused')).toEqual({
    code: 1,
    said: `The refund ${gone} is done.\n`,
  })
  expect(await balance()).toBe(0)
  expect(await command('refund:decide', kept, 'refused')).toMatchObject({ code: 0 })
  expect(await balance()).toBe(30_000)
  expect((await command('refund:decide', asking, 'refused')).code).toBe(1)
  expect((await command('refund:decide', randomUUID(), 'done')).code).toBe(1)
  expect((await command('refund:decide', gone, 'perhaps')).code).toBe(64)
  await portal.ledgerHolds()
})

async function transfer(token: string): Promise<{ content: string; accountNumber: string }> {
  const begun = await portal.call<{ transactionCode: string }>('POST', '/api/payments/checkout', {
    token,
    body: { amount: 70_000, type: 1, method: 'BANKTRANSFER' },
  })
  const code = begun.body.result.transactionCode
  return (
    await portal.call<{ content: string; accountNumber: string }>(
      'GET',
      `/api/payments/transfer?transactionCode=${code}`,
      { token },
    )
  ).body.result
}

test('mail of a site is suspended with a reason, listed, and resumed', async () => {
  const an = await portal.customer()
  const { token } = an
  await portal.topUp(an, 500_000)
  const order = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'an',
    password: 'Mat-khau-9!',
    replicate: 1,
  }
  const { id } = (await portal.call<{ id: string }>('POST', '/api/wp', { token, body: order })).body
    .result
  const name = await eventually(
    'the server running',
    async () => {
      const { result } = (
        await portal.call<{ status: string; name: string }>('GET', `/api/wp/${id}`, { token })
      ).body
      return result.status === 'running' && result.name
    },
    90,
  )
  const suspended = async () =>
    (await portal.call<{ suspended: object | null }>('GET', `/api/wp/${id}/mail`, { token })).body
      .result.suspended
  expect(await command('mail')).toEqual({ code: 0, said: 'E-mail of 0 sites is suspended.\n' })
  for (const wrong of [['suspend'], ['resume'], ['list', 'x'], ['suspend', 'a', '--for', 'fun']])
    expect((await command('mail', ...wrong)).code).toBe(64)
  expect(await command('mail', 'suspend', 'no-such-server')).toMatchObject({ code: 1 })
  const note = 'Three people wrote to us.'
  expect(
    await command('mail', 'suspend', name, '--for', 'complaint', '--note', note),
  ).toMatchObject({ code: 0 })
  expect(await suspended()).toMatchObject({ cause: 'complaint', note })
  const listed = await command('mail')
  expect(listed.code).toBe(1)
  expect(listed.said).toMatch(/suspended since .* for complaint: Three people wrote to us\./)
  const letter = await eventually('a letter', async () =>
    (await portal.inbox(an.email)).find(({ text }) => text.includes(note)),
  )
  expect(letter.text).toContain('tạm ngưng gửi email')
  expect(await command('mail', 'resume', id)).toMatchObject({ code: 0 })
  expect(await suspended()).toBeNull()
  expect(await command('mail', 'resume', name)).toEqual({
    code: 0,
    said: `E-mail of ${name} is not suspended.\n`,
  })
  const { acts } = JSON.parse(
    (await command('acts', 'list', '--customer', an.id, '--json')).said,
  ) as {
    acts: object[]
  }
  const subject = { kind: 'server', id }
  const suspendedFor = { name, mailSuspended: 'complaint' }
  expect(acts).toMatchObject([
    { act: 'mail.resume', actor: 'command', subject, before: suspendedFor },
    {
      act: 'mail.suspend',
      actor: 'command',
      subject,
      reason: note,
      after: { ...suspendedFor, note },
    },
  ])
  expect(await command('mail', 'records')).toMatchObject({ code: 1 })
  const records = await commandWith({ SITES_DOMAIN: 'sites.example.net' }, 'mail', 'records')
  expect(records.code).toBe(0)
  expect(records.said).toMatch(/_domainkey\.sites\.example\.net TXT v=DKIM1; k=rsa; p=\w/)
  await jobsIdle(portal.app.db)
})
