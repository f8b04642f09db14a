/** A resolver with the records that a test writes down; every other name has none. */
import dgram from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { decode, encode, type Answer } from 'dns-packet'

export interface TestDns {
  /** 127.0.0.1:port */
  readonly address: string
  /** `TXT a.example`: the record's data. */
  readonly records: Map<string, readonly string[]>
  close(): Promise<void>
}

export async function openTestDns(): Promise<TestDns> {
  const records = new Map<string, readonly string[]>()
  const socket = dgram.createSocket('udp4')
  socket.on('message', (message, from) => {
    const { id, questions } = decode(message)
    const [question] = questions ?? []
    if (!question) return
    const name = question.name.toLowerCase()
    const data = records.get(`${question.type} ${name}`) ?? []
    const known = [...records.keys()].some((key) => key.endsWith(` ${name}`))
    const answers = data.map((value) => ({ type: question.type, name: question.name, ttl: 1, data: value }) as Answer)
    // 3: no such name.
    socket.send(
      encode({ type: 'response', id: id ?? 0, flags: 0x8180 | (known ? 0 : 3), questions: [question], answers }),
      from.port,
      from.address,
    )
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    records,
    close: () => new Promise((resolve) => socket.close(resolve)),
  }
}
