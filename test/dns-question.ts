/**
 * A query to the name server at a port of this machine, with the answer in the format of the DNS
 * driver interface.
 */
import type { Answer } from 'dns-packet'
import { askServer } from '../server/dns/delegation/ask.ts'
import type { ServedType } from '../server/dns/driver.ts'

interface Told {
  readonly rcode: string
  readonly values: readonly string[]
  readonly ttlSeconds: number | undefined
}

function valueOf(answer: Answer): string {
  switch (answer.type) {
    case 'MX':
      return `${answer.data.preference ?? 0} ${answer.data.exchange}`
    case 'TXT':
      return Buffer.concat([answer.data].flat().map((part) => Buffer.from(part))).toString('utf8')
    default:
      return 'data' in answer && typeof answer.data === 'string' ? answer.data : ''
  }
}

/** Asks over UDP, and over TCP when the answer does not fit. */
export const askFor =
  (port: number) =>
  async (name: string, type: ServedType | 'SOA'): Promise<Told> => {
    const response = await askServer({ address: '127.0.0.1', port }, { name, type }, 2000)
    const answers = (response?.answers ?? []).filter(
      (answer) => answer.type === type && answer.name.toLowerCase() === name,
    )
    // A referral names the child's servers without being authoritative for them.
    const referral = (response?.authorities ?? []).filter((answer) => answer.type === 'NS')
    const records = answers.length === 0 && type === 'NS' ? referral : answers
    const [first] = records
    return {
      rcode: response?.rcode ?? 'silence',
      values: records.map(valueOf),
      ttlSeconds: first && 'ttl' in first ? first.ttl : undefined,
    }
  }
