/**
 * Two edges of one portal: a visitor of either reaches the site, and only these edges trust each
 * other.
 */
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { testCertificate } from '../../test/certificates.ts'
import { scryptHash } from '../platform/scrypt.ts'
import { createEdge, createHostTable, createHttps, type Edge, type HostChange } from './index.ts'
import type { HostTable } from './host-table.ts'

const name = 'shop.example.vn'
const key = 'what edges know each other by'
const log = { warn: () => undefined }
let site: http.Server
/**
 * `first`: the visitors' edge, behind a proxy with HTTPS; `second`: the edge of the site's node.
 */
let first: Edge
let second: Edge
let ports: { first: number; second: number }
const stale = createHostTable(() => [])

const change = (entry: Partial<HostChange['entries'][number]>): HostChange => ({
  base: null,
  version: 'one',
  sites: null,
  entries: [{ host: name, site: '1', state: 'live', ...entry }],
  peerKey: key,
})

beforeAll(async () => {
  site = http.createServer((request, response) => response.end(JSON.stringify(request.headers)))
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const upstream = { host: '127.0.0.1', port: (site.address() as AddressInfo).port }
  const there = createHostTable(() => [upstream])
  there.apply(change({}))
  const https = createHttps(0, log)
  const certificate = testCertificate(name)
  https.feed.compare([certificate], [], 1)
  https.feed.put([certificate])
  second = createEdge({
    resolve: there.resolve,
    peerKey: there.peerKey,
    https,
    port: 0,
    host: '127.0.0.1',
    log,
    note: () => undefined,
  })
  const secondPort = await second.listen()
  const here = createHostTable(() => [])
  here.apply(change({ via: { host: '127.0.0.1', port: secondPort } }))
  first = createEdge({
    resolve: here.resolve,
    peerKey: here.peerKey,
    port: 0,
    host: '127.0.0.1',
    proto: 'https',
    trustProxy: true,
    log,
    note: () => undefined,
  })
  ports = { first: await first.listen(), second: secondPort }
})
afterAll(async () => {
  await first.close()
  await second.close()
  await new Promise((resolve) => site.close(resolve))
})

const visit = (
  port: number,
  headers: http.OutgoingHttpHeaders = {},
): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    http
      .get(
        { host: '127.0.0.1', port, headers: { host: name, ...headers }, agent: false },
        (answer) => {
          let text = ''
          answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
        },
      )
      .once('error', reject)
  })

test('a visitor of another edge reaches the site, which learns who and how', async () => {
  const { status, text } = await visit(ports.first, { 'x-forwarded-for': '203.0.113.7' })
  const headers = JSON.parse(text) as Record<string, string>
  expect(status).toBe(200)
  expect(headers).toMatchObject({ 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' })
  expect(headers).not.toHaveProperty('x-portal-edge')
})

test('whoever does not know the key is a visitor like any other', async () => {
  // By HTTP to a host with a certificate: redirected to HTTPS.
  expect((await visit(ports.second)).status).toBe(301)
  const forged = { 'x-portal-edge': `${key}!`, 'x-forwarded-proto': 'https' }
  expect((await visit(ports.second, forged)).status).toBe(301)
})

test('two edges that each take the site for the other’s pass a visitor on once', async () => {
  const edge = createEdge({
    resolve: stale.resolve,
    peerKey: stale.peerKey,
    port: 0,
    host: '127.0.0.1',
    log,
    note: () => undefined,
  })
  const port = await edge.listen()
  // The other edge is this one: without the check it would loop for ever.
  stale.apply(change({ via: { host: '127.0.0.1', port } }))
  try {
    expect((await visit(port)).status).toBe(502)
  } finally {
    await edge.close()
  }
})

/** An edge with a table of its own, as long as the test lasts. */
async function edgeWith(table: HostTable): Promise<number> {
  const edge = createEdge({
    resolve: table.resolve,
    peerKey: table.peerKey,
    port: 0,
    host: '127.0.0.1',
    trustProxy: true,
    log,
    note: () => undefined,
  })
  onTestFinished(() => edge.close())
  return await edge.listen()
}
const here = (): { host: string; port: number } => ({
  host: '127.0.0.1',
  port: (site.address() as AddressInfo).port,
})

test('after a move the old node, whose site still runs, asks who a peer’s visitor is', async () => {
  const { first: elsewhere } = ports
  const protection = {
    denied: ['192.0.2.7'],
    password: { user: 'a', hash: await scryptHash('mot mot mot') },
  }
  const old = createHostTable(() => [here()])
  old.apply(change({ via: { host: '127.0.0.1', port: elsewhere }, protection }))
  const oldPort = await edgeWith(old)
  // It has not heard of the move.
  const late = createHostTable(() => [])
  late.apply(change({ via: { host: '127.0.0.1', port: oldPort }, protection }))
  const latePort = await edgeWith(late)
  const authorization = `Basic ${Buffer.from('a:mot mot mot').toString('base64')}`
  expect((await visit(latePort)).status).toBe(401)
  const denied = { 'x-forwarded-for': '192.0.2.7', authorization }
  expect((await visit(latePort, denied)).status).toBe(403)
  const { status, text } = await visit(latePort, { authorization })
  expect(status).toBe(200)
  expect(JSON.parse(text)).not.toHaveProperty('authorization')
})

test('a site that comes here while a peer was asked lets nobody in unasked', async () => {
  const protection = { password: { user: 'a', hash: await scryptHash('mot mot mot') } }
  const table = createHostTable(() => [here()])
  // The other edge ends, and by then the site is here.
  const peer = net.createServer((socket) => {
    const entry = { host: name, site: '1', state: 'live', protection } as const
    table.apply({ base: 'one', version: 'two', sites: null, entries: [entry] })
    socket.destroy()
  })
  await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void peer.close())
  const via = { host: '127.0.0.1', port: (peer.address() as AddressInfo).port }
  table.apply(change({ via, protection }))
  const port = await edgeWith(table)
  expect((await visit(port)).status).toBe(502)
  expect(table.version()).toBe('two')
  expect((await visit(port)).status).toBe(401)
})
