/**
 * Completely full disks on three nodes: what a visitor, a customer and the operator see meanwhile,
 * and that everything continues once there is room. First the disk of a node, then the database's.
 * Each machine's folder is a file system in memory, which needs root.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { openMachines } from '../test/machines.ts'
import { orderSite, placeOrder, report, signIn } from './portal.ts'

const machineMb = 1_500
const mounted: string[] = []
function mount(folder: string): void {
  const options = `size=${machineMb}m,mode=755`
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder])
  mounted.push(folder)
}

/** Uses every byte that is left in the folder's file system; the returned function frees them. */
function fill(folder: string): () => void {
  const name = path.join(folder, 'filling')
  const file = openSync(name, 'w')
  for (const bytes of [1_048_576, 4_096, 1]) {
    const piece = Buffer.alloc(bytes, 1)
    try {
      for (;;) writeSync(file, piece)
    } catch {
      // A piece of this size does not fit.
    }
  }
  closeSync(file)
  return () => rmSync(name)
}

interface Answer {
  readonly status: number
  readonly text: string
}
const visit = (port: number, host: string, target: string, body?: string): Promise<Answer> =>
  new Promise((resolve) => {
    const request = http
      .request(
        {
          host: '127.0.0.1',
          port,
          path: target,
          method: body === undefined ? 'GET' : 'POST',
          headers: { host, ...(body !== undefined && { 'content-type': 'text/xml' }) },
          agent: false,
        },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8')
          answer
            .on('data', (chunk: string) => (text += chunk))
            .on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
        },
      )
      .once('error', (error) => resolve({ status: 0, text: error.message }))
    request.end(body)
  })

const text = (value: string): string => `<param><value><string>${value}</string></value></param>`
/** Writes a post by XML-RPC as the server's administrator; returns whether it was stored. */
async function writes(port: number, host: string, title: string): Promise<boolean> {
  const content =
    `<param><value><struct>` +
    `<member><name>title</name><value><string>${title}</string></value></member>` +
    `<member><name>description</name><value><string>${'x'.repeat(50_000)}</string></value>` +
    `</member></struct></value></param>`
  const call =
    `<?xml version="1.0"?><methodCall><methodName>metaWeblog.newPost</methodName><params>` +
    `${text('1')}${text('boss')}${text('Another#1pass')}${content}` +
    `<param><value><boolean>1</boolean></value></param></params></methodCall>`
  const { status, text: said } = await visit(port, host, '/xmlrpc.php', call)
  return status === 200 && !said.includes('<fault>')
}

/**
 * Writes until the database refuses: its log has space that was reserved before the disk was full.
 */
async function swell(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query('create table filling (bytes bytea)')
    for (let turn = 0; turn < 1_000; turn++)
      await client.query('insert into filling values ($1)', [randomBytes(1_048_576)])
  } catch (error) {
    console.log(`      the database: ${(error as Error).message}`)
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function eventually(what: string, holds: () => Promise<boolean>): Promise<number> {
  const began = performance.now()
  while (!(await holds().catch(() => false))) {
    if (performance.now() - began > 180_000) throw new Error(`three minutes without ${what}`)
    await pause(500)
  }
  return (performance.now() - began) / 1000
}

const says = (what: string, holds: boolean): boolean => report(what, holds ? 1 : 0, 1, '', true)

const machines = await openMachines({ more: { DEMO: 'on' }, prepare: mount })
const { first, hanoi, address } = machines
try {
  const { sandboxUrl, sitesPort, dnsPort } = first
  const portal = { url: address, sandboxUrl, sitesPort, dnsPort }
  const token = await signIn(portal)
  const onHanoi = await orderSite(portal, token, 1)
  const onFirst = await orderSite(portal, token, 2)
  const failedOf = async (host: string, target: string, times: number): Promise<number> => {
    let failed = 0
    for (let turn = 0; turn < times; turn++)
      if ((await visit(sitesPort, host, target)).status !== 200) failed++
    return failed
  }
  const stylesheet = '/wp-includes/css/buttons.min.css'
  says('before: a post is written', await writes(sitesPort, onHanoi.domain, 'a'))

  console.log('      the disk of the node hanoi is full')
  let release = fill(hanoi.dataDir)
  report('its server: 20 files, failed', await failedOf(onHanoi.domain, stylesheet, 20), 0, '')
  report('its server: 10 pages, failed', await failedOf(onHanoi.domain, '/', 10), 0, '')
  report('another node: 10 pages, failed', await failedOf(onFirst.domain, '/', 10), 0, '')
  const refused = !(await writes(sitesPort, onHanoi.domain, 'b'))
  says('its server refuses a post', refused)
  const roomOfHanoi = async (): Promise<number | undefined> => {
    const { said } = await first.command('node', {}, ['list', '--json'])
    const { nodes } = JSON.parse(said) as { nodes: { id: string; room: number }[] }
    return nodes.find(({ id }) => id === 'hanoi')?.room
  }
  const noRoom = await eventually('a node without room', async () => (await roomOfHanoi()) === 0)
  report('the node says that it has no room after', noRoom, 30, 's')
  const told = await placeOrder(portal, token, 1).then(
    () => '',
    (error: unknown) => (error as Error).message,
  )
  says('an order there is refused (422)', told.includes('422'))
  const elsewhere = await orderSite(portal, token, 4)
  says('an order in another data centre runs', elsewhere.domain !== '')
  release()
  const again = await eventually('a post', () => writes(sitesPort, onHanoi.domain, 'c'))
  report('with room again: a post is written after', again, 30, 's')
  await eventually('room', async () => (await roomOfHanoi()) !== 0)
  says('with room again: an order runs', (await orderSite(portal, token, 1)).id !== '')

  console.log('      the disk of the database is full')
  const write = async (): Promise<boolean> => {
    const answer = await fetch(`${address}/api/dns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ name: `d${Math.random().toString(36).slice(2, 10)}.example` }),
    })
    return answer.ok
  }
  release = fill(first.dataDir)
  await swell(await first.database())
  let [wrote, failed, read] = [0, 0, 0]
  for (let turn = 0; turn < 50; turn++) {
    if (await write().catch(() => false)) wrote++
    else failed++
    if ((await fetch(`${address}/api/config`).catch(() => undefined))?.ok) read++
  }
  console.log(`      50 writes: ${wrote} done, ${failed} refused; ${read} of 50 reads answered`)
  report('another node: 10 files, failed', await failedOf(onHanoi.domain, stylesheet, 10), 0, '')
  release()
  report('with room again: a write after', await eventually('a write', write), 60, 's')
  await eventually('room', async () => (await roomOfHanoi()) !== 0)
  says('with room again: an order runs', (await orderSite(portal, token, 1)).id !== '')
  const check = await first.command('ledger:check', {}, ['--full'])
  report('the ledger after it: exit code', check.code ?? 1, 0, '')
} finally {
  await machines.close().catch(() => undefined)
  for (const folder of mounted) {
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  }
}
