/** A resolver with the records that a test defines; no other name has any. */
import dgram from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { decode, encode, type Answer } from 'dns-packet'

export interface TestDns {
  /** 127.0.0.1:port */
  readonly address: string
  /**
   * `TXT a.example`: the record's data; `A *.example` stands for every name that is not defined.
   */
  readonly records: Map<string, readonly string[]>
  /**
   * From now on queries for the name wait for `answer`; `asked` resolves when the first one has
   * arrived.
   */
  hold(name: string): { readonly asked: Promise<void>; answer(): void }
  close(): Promise<void>
}

export async function openTestDns(): Promise<TestDns> {
  const records = new Map<string, readonly string[]>()
  const held = new Map<string, { readonly asked: () => void; readonly answered: Promise<void> }>()
  const socket = dgram.createSocket('udp4')
  socket.on('message', (message, from) => {
    const { id, questions } = decode(message)
    const [question] = questions ?? []
    if (!question) return
    const name = question.name.toLowerCase()
    const isWritten = (one: string): boolean =>
      [...records.keys()].some((key) => key.endsWith(` ${one}`))
    // A wildcard answers for names that do not exist beside it (RFC 4592).
    const wildcard = `*${name.slice(name.indexOf('.'))}`
    const source = isWritten(name) ? name : wildcard
    const data = records.get(`${question.type} ${source}`) ?? []
    const known = isWritten(source)
    const answers = data.map(
      (value) =>
        ({
          type: question.type,
          name: question.name,
          ttl: 1,
          // A string of a TXT record has 255 bytes at most (RFC 1035, 3.3).
          data: question.type === 'TXT' ? (value.match(/.{1,255}/g) ?? ['']) : value,
        }) as Answer,
    )
    // 3: no such name.
    const response = encode({
      type: 'response',
      id: id ?? 0,
      flags: 0x8180 | (known ? 0 : 3),
      questions: [question],
      answers,
    })
    const send = (): void => socket.send(response, from.port, from.address)
    const waiting = held.get(name)
    waiting?.asked()
    if (waiting) void waiting.answered.then(send)
    else send()
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    records,
    hold(name) {
      const asked = Promise.withResolvers<void>()
      const answered = Promise.withResolvers<void>()
      held.set(name, { asked: asked.resolve, answered: answered.promise })
      return {
        asked: asked.promise,
        answer() {
          held.delete(name)
          answered.resolve()
        },
      }
    },
    close: () => new Promise((resolve) => socket.close(resolve)),
  }
}
