/** Which requests wait for PHP in a container, and which no longer do. */
import { once } from 'node:events'
import fs from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixture } from '../../../../test/embedded-wordpress.ts'
import type { SiteAddress } from '../../driver.ts'
import { ask, eventually, specOf } from '../conformance.ts'

const spec = specOf()
const pageSeconds = 5
let parts: Awaited<ReturnType<typeof fixture>>
let to: SiteAddress
const file = (name: string) => path.join(parts.dataDir, 'sites', spec.id, 'wordpress', name)
const said = async () => (await parts.driver.log(spec.id).tail(100)).map(({ text }) => text)

beforeAll(async () => {
  parts = await fixture({
    settings: { internet: false, maxContainers: 50, pageSeconds, maxCpu: null, maxRamMb: null },
  })
  await parts.driver.install(spec, {
    user: 'boss',
    password: 'Another#1pass',
    email: 'boss@example.com',
  })
  await parts.driver.start(spec)
  to = (await parts.driver.addresses(spec.id))[0]!
  // PHP signals its progress, so that no test waits for a fixed time. PHP's own limit is as long as
  // ours, and where it comes first the page is a fatal error.
  await parts.put(
    spec.id,
    'turn.php',
    `<?php
set_time_limit( 0 );
file_put_contents( __DIR__ . '/order.txt', $_GET['name'] . "\\n", FILE_APPEND );
$end = microtime( true ) + ( $_GET['seconds'] ?? 0 );
while ( microtime( true ) < $end ) usleep( 10000 );
echo $_GET['name'];`,
  )
}, 120_000)
afterAll(() => parts?.dispose(), 60_000)

const ran = async () =>
  (await fs.readFile(file('order.txt'), 'utf8').catch(() => '')).trim().split('\n')
const visit = (name: string, seconds: number) =>
  ask(to, `${spec.url}/turn.php?name=${name}&seconds=${seconds}`)
/** A file needs no turn: once it is answered, earlier requests are in the queue. */
const allInLine = () => ask(to, `${spec.url}/readme.html`)

test('a line of slow pages, longer than any of them may take, ends no container', async () => {
  const names = Array.from({ length: 7 }, (_, index) => `slow-${index}`)
  const answers = await Promise.all(names.map((name) => visit(name, 0.8)))
  expect(answers.map(({ status, text }) => [status, text])).toEqual(
    names.map((name) => [200, name]),
  )
  expect(await parts.driver.addresses(spec.id)).toEqual([to])
  expect((await ran()).toSorted()).toEqual(names)
})

test('who leaves the line is not run, unless it may change something; order is kept', async () => {
  await fs.rm(file('order.txt'))
  const first = visit('first', 2)
  await eventually(async () => expect(await ran()).toEqual(['first']))
  const leaving = ['GET', 'POST'].map((method) => {
    const request = http.request({
      ...to,
      method,
      path: `/turn.php?name=left-${method}`,
      headers: { host: new URL(spec.url).host },
    })
    request.on('error', () => {})
    return request.end()
  })
  await Promise.all(leaving.map((request) => once(request, 'finish')))
  await allInLine()
  for (const request of leaving) request.destroy()
  const stays: Promise<{ text: string }>[] = []
  for (const name of ['second', 'third', 'fourth']) {
    stays.push(visit(name, 0))
    await allInLine()
  }
  expect(await Promise.all([first, ...stays].map(async (one) => (await one).text))).toEqual([
    'first',
    'second',
    'third',
    'fourth',
  ])
  expect((await ran()).filter((name) => name !== 'left-POST')).toEqual([
    'first',
    'second',
    'third',
    'fourth',
  ])
  await eventually(async () => expect(await ran()).toContain('left-POST'))
})

test('a page that takes longer than it may is stopped, and no container', async () => {
  const stuck = visit('stuck', 60)
  const next = visit('next', 0)
  const { status, text } = await stuck
  expect(status).toBe(504)
  expect(text).toMatch(/took too long.*chạy quá lâu/s)
  expect(await next).toMatchObject({ status: 200, text: 'next' })
  expect(await parts.driver.addresses(spec.id)).toEqual([to])
  expect((await parts.driver.state(spec.id)).containers).toMatchObject([{ restarts: 0 }])
  await eventually(async () =>
    expect(await said()).toEqual(
      expect.arrayContaining([
        'a PHP process ended: a page took longer than it may',
        expect.stringMatching(/GET \/turn\.php\?name=stuck&seconds=60" 504 /),
      ]),
    ),
  )
})

test('fatal errors in a row have PHP renewed, and nobody is turned away', async () => {
  await parts.put(spec.id, 'who.php', '<?php echo getmypid();')
  await parts.put(spec.id, 'broken.php', '<?php undefined_function();')
  const who = async () => {
    const { status, text } = await ask(to, `${spec.url}/who.php`)
    expect(status).toBe(200)
    return text
  }
  // WordPress's own jobs may come in between; they are not fatal errors.
  await eventually(async () => {
    for (let round = 0; round < 5; round++)
      expect((await ask(to, `${spec.url}/broken.php`)).status).toBe(500)
    const lines = (await parts.driver.log(spec.id).tail(500)).map(({ text }) => text)
    expect(lines.some((text) => /PHP process is renewed after \d+ fatal/.test(text))).toBe(true)
  }, 60_000)
  // Visitors come without a pause, and none is turned away.
  const before = new Set<string>()
  for (let visits = 0; visits < 20; visits++) before.add(await who())
  let isNew = false
  const visitor = async () => {
    while (!isNew) isNew = !before.has(await who())
  }
  await Promise.all([visitor(), visitor()])
  expect(await parts.driver.addresses(spec.id)).toEqual([to])
})
