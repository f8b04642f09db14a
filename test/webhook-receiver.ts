/** A customer's program that receives webhooks: it stores them, and answers as the test says. */
import { createHmac } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface ReceivedCall {
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}
type Answering = (call: ReceivedCall, response: http.ServerResponse) => void

export interface TestReceiver {
  readonly url: string
  readonly port: number
  readonly calls: ReceivedCall[]
  /** Its answer from now on; at first 200 and `thanks`. */
  answer: Answering
  close(): Promise<void>
}

/** An answer with a status only. */
export const answersWith =
  (status: number, text = 'thanks', headers: http.OutgoingHttpHeaders = {}): Answering =>
  (_call, response) =>
    void response.writeHead(status, headers).end(text)

export async function openReceiver(host = '127.0.0.1', port = 0): Promise<TestReceiver> {
  const calls: ReceivedCall[] = []
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const call = { path: request.url ?? '', headers: request.headers, body }
      calls.push(call)
      receiver.answer(call, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  const { port: own } = server.address() as AddressInfo
  const receiver: TestReceiver = {
    url: `http://${host}:${own}/hook`,
    port: own,
    calls,
    answer: answersWith(200),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return receiver
}

/** A receiver that is closed after the test. */
export async function receiver(host?: string, port?: number): Promise<TestReceiver> {
  const one = await openReceiver(host, port)
  onTestFinished(() => one.close())
  return one
}

/** Checks the signature by the Standard Webhooks specification; `secret`: as it was shown once. */
export const isSignedBy = (secret: string, { headers, body }: ReceivedCall): boolean => {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signed = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.')
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  return String(headers['webhook-signature']).split(' ').includes(expected)
}
