/**
 * A small name server on UDP and TCP (RFC 1035, 4.2): it handles the transport, and the caller
 * supplies the answers.
 */
import dgram from 'node:dgram'
import net, { type AddressInfo } from 'node:net'
import {
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  TRUNCATED_RESPONSE,
  type Answer,
  type Question,
} from 'dns-packet'

export interface NameServerAnswer {
  readonly rcode: keyof typeof rcodes
  readonly isAuthoritative?: boolean
  readonly answers?: Answer[]
  readonly authorities?: Answer[]
  readonly additionals?: Answer[]
  /** Over UDP only: the answer does not fit. */
  readonly isTruncated?: boolean
  /** The question to repeat in the response, instead of the received one. */
  readonly instead?: Question
}
export interface NameServer {
  readonly port: number
  close(): Promise<void>
}

const rcodes = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const
const plainUdpBytes = 512
const maxUdpBytes = 1232
/** A connection that is silent for this long is closed, ms. */
const idleMs = 5000

/**
 * Listens on the same port for both; 0 takes any. `answer` gets the name in lower case, without a
 * dot at the end; undefined means no response.
 * @throws when the port is taken.
 */
export async function openNameServer(options: {
  readonly host: string
  readonly port: number
  readonly answer: (
    question: Question,
    over: 'udp' | 'tcp',
    hasEdns: boolean,
  ) => NameServerAnswer | undefined | Promise<NameServerAnswer | undefined>
  readonly log: (line: string) => void
}): Promise<NameServer> {
  async function read(message: Buffer, over: 'udp' | 'tcp'): Promise<Buffer | undefined> {
    const packet = (() => {
      try {
        return decode(message)
      } catch {
        return undefined
      }
    })()
    const [question] = packet?.questions ?? []
    // Noise, or an answer: answering those could make two servers talk for ever.
    if (!packet || !question || packet.type !== 'query') return undefined
    const normalized = { ...question, name: question.name.toLowerCase().replace(/\.$/, '') }
    const edns = packet.additionals?.find((record) => record.type === 'OPT')
    const response = await (async () =>
      options.answer(normalized, over, edns !== undefined))().catch(
      (error: unknown): NameServerAnswer => {
        options.log(
          'sandbox: the name server cannot answer: ' +
            `${error instanceof Error ? error.message : 'unknown'}`,
        )
        return { rcode: 'SERVFAIL' }
      },
    )
    if (!response) return undefined
    const opt: Answer[] = edns
      ? [
          {
            type: 'OPT',
            name: '.',
            udpPayloadSize: maxUdpBytes,
            extendedRcode: 0,
            ednsVersion: 0,
            flags: 0,
            flag_do: false,
            options: [],
          },
        ]
      : []
    const flags = rcodes[response.rcode] | (response.isAuthoritative ? AUTHORITATIVE_ANSWER : 0)
    const head = {
      type: 'response' as const,
      id: packet.id ?? 0,
      questions: [response.instead ?? question],
    }
    const whole = encode({
      ...head,
      flags,
      answers: response.answers ?? [],
      authorities: response.authorities ?? [],
      additionals: [...(response.additionals ?? []), ...opt],
    })
    const room = edns
      ? Math.min(maxUdpBytes, Math.max(plainUdpBytes, edns.udpPayloadSize))
      : plainUdpBytes
    const fits = over === 'tcp' || (whole.length <= room && !response.isTruncated)
    return fits ? whole : encode({ ...head, flags: flags | TRUNCATED_RESPONSE, additionals: opt })
  }

  /** Never throws. If the answer cannot be encoded, none is sent. */
  const replyTo = (message: Buffer, over: 'udp' | 'tcp'): Promise<Buffer | undefined> =>
    read(message, over).catch((error: unknown) => {
      options.log(
        'sandbox: the name server cannot write its answer: ' +
          `${error instanceof Error ? error.message : 'unknown'}`,
      )
      return undefined
    })

  const connections = new Set<net.Socket>()
  const tcp = net.createServer((socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
    let received = Buffer.alloc(0)
    socket.setTimeout(idleMs, () => socket.destroy())
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const message = received.subarray(2, 2 + received.readUInt16BE(0))
        received = received.subarray(2 + message.length)
        void replyTo(message, 'tcp').then((reply) => {
          if (!reply) return socket.destroy()
          const length = Buffer.alloc(2)
          length.writeUInt16BE(reply.length)
          return socket.write(Buffer.concat([length, reply]))
        })
      }
    })
  })
  const udp = dgram.createSocket(net.isIPv6(options.host) ? 'udp6' : 'udp4')
  let isOpen = true
  udp.on('message', (message, from) => {
    void replyTo(message, 'udp').then((reply) => {
      if (reply && isOpen) udp.send(reply, from.port, from.address)
    })
  })
  await listening(tcp, () => tcp.listen(options.port, options.host))
  const { port } = tcp.address() as AddressInfo
  try {
    await listening(udp, () => udp.bind(port, options.host))
  } catch (error) {
    tcp.close()
    throw error
  }
  for (const server of [tcp, udp])
    server.on('error', (error: Error) => options.log(`sandbox: the name server: ${error.message}`))
  return {
    port,
    async close() {
      isOpen = false
      const closed = Promise.all([
        new Promise<void>((resolve) => tcp.close(() => resolve())),
        new Promise<void>((resolve) => udp.close(resolve)),
      ])
      for (const socket of connections) socket.destroy()
      await closed
    },
  }
}

function listening(server: net.Server | dgram.Socket, listen: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.once('listening', () => {
      server.off('error', reject)
      resolve()
    })
    listen()
  })
}
