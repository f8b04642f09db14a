/**
 * The embedded name server in a process of its own. The first message is its zone; a message
 * `{fill}` makes zones and answers with the bytes that they use.
 */
import { randomUUID } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { RecordSet, ZoneHead } from '../server/dns/driver.ts'
import { createEmbedded } from '../server/dns/drivers/embedded/index.ts'
import { head as example } from './dns-zone.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const held = (): number => {
  for (let twice = 0; twice < 2; twice++) collect()
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return heapUsed + external + arrayBuffers
}
/** A string of its own, not shared with others, as in a row from the database. */
const fresh = (text: string): string => Buffer.from(text).toString('utf8')

const driver = createEmbedded({
  host: '127.0.0.1',
  port: Number(process.argv[2]),
  transferTo: [],
  onFault: (error) => {
    throw error
  },
})
await driver.start()

function zoneSets(name: string, number: number): RecordSet[] {
  const set = (owner: string, type: RecordSet['type'], value: string): RecordSet => ({
    name: fresh(owner),
    type,
    ttlSeconds: 300,
    proxied: false,
    values: [fresh(value)],
  })
  return [
    set(name, 'A', `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`),
    set(`www.${name}`, 'CNAME', name),
    set(name, 'MX', `10 mail.${name}`),
    set(name, 'TXT', `v=spf1 include:_spf.${name} -all`),
    set(`mail.${name}`, 'A', '203.0.113.9'),
  ]
}

process.on('message', (message: { head: ZoneHead; sets: RecordSet[] } | { fill: number }) => {
  void (async () => {
    if ('head' in message) return driver.putZone(message.head, message.sets)
    const before = held()
    const rssBefore = process.memoryUsage.rss()
    let records = 0
    for (let number = 0; number < message.fill; number++) {
      const name = fresh(`customer-zone-${number}.example`)
      const sets = zoneSets(name, number)
      // Plus its SOA and two NS records.
      records += sets.length + 3
      await driver.putZone(
        {
          ...example,
          id: randomUUID(),
          name,
          nameServers: [`ns${number % 64}.dns.test`, `ns${(number + 1) % 64}.dns.test`],
        },
        sets,
      )
    }
    const bytes = held() - before
    process.send?.({ records, bytes, rssBytes: process.memoryUsage.rss() - rssBefore })
    return undefined
  })()
})
process.on('disconnect', () => process.exit(0))
