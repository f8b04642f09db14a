/**
 * Captures gateways' webhooks instead of delivering them, so that a test can deliver them late,
 * twice, changed, in another order or never.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One genuine webhook, as the gateway sent it. */
export interface CapturedWebhook {
  readonly driver: string
  readonly method: string
  /** Path and query. */
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface WebhookInterceptor {
  readonly url: string
  /** The webhooks since the last call. */
  collect(): CapturedWebhook[]
  close(): Promise<void>
}

/** Headers of the connection, not of the webhook. */
const ofTheConnection = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
])
/** A response that every gateway accepts as success. */
const understood = JSON.stringify({
  RspCode: '00',
  Message: 'Confirm Success',
  success: true,
  code: '00',
})

export async function openWebhookInterceptor(): Promise<WebhookInterceptor> {
  let captured: CapturedWebhook[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const address = request.url ?? '/'
      const headers = Object.entries(request.headers).filter(([name]) => !ofTheConnection.has(name))
      captured.push({
        driver: /\/api\/webhooks\/(\w+)/.exec(address)?.[1] ?? '',
        method: request.method ?? 'GET',
        address,
        headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
        body: Buffer.concat(chunks).toString('utf8'),
      })
      response.writeHead(200, { 'content-type': 'application/json' }).end(understood)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    collect() {
      const now = captured
      captured = []
      return now
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Delivers a webhook to the portal; returns the status, or 0 when the connection broke. */
export async function deliver(portalUrl: string, webhook: CapturedWebhook): Promise<number> {
  try {
    const answer = await fetch(`${portalUrl}${webhook.address}`, {
      method: webhook.method,
      headers: webhook.headers,
      ...(webhook.method !== 'GET' && { body: webhook.body }),
    })
    await answer.text()
    return answer.status
  } catch {
    return 0
  }
}

/**
 * Changes the last digit of the first number with at least five digits: an amount, a reference or a
 * time.
 */
const bumped = (text: string): string =>
  text.replace(/\d{5,}/, (number) => number.slice(0, -1) + String((Number(number.at(-1)) + 1) % 10))
const isSignature = (name: string): boolean => /sign|checksum|hmac/i.test(name)

/** Forged variants of a genuine webhook. */
export const forgeries: Readonly<Record<string, (webhook: CapturedWebhook) => CapturedWebhook>> = {
  'another number': (webhook) =>
    webhook.body === ''
      ? { ...webhook, address: webhook.address.replace(/\?.*/, bumped) }
      : { ...webhook, body: bumped(webhook.body) },
  'no signature': (webhook) => ({
    ...webhook,
    headers: Object.fromEntries(
      Object.entries(webhook.headers).filter(([name]) => !isSignature(name)),
    ),
    address: webhook.address.replace(/&vnp_SecureHash=[^&]*/, ''),
    body: webhook.body.replace(/,?"(signature|checksum)":"[^"]*"/, ''),
  }),
  'a signature of noughts': (webhook) => ({
    ...webhook,
    headers: Object.fromEntries(
      Object.entries(webhook.headers).map(([name, value]) => [
        name,
        isSignature(name)
          ? value
              .replaceAll(/[0-9a-f]{32,}/gi, (hex) => '0'.repeat(hex.length))
              .replaceAll(/^[A-Za-z0-9+/]{42,}=*$/g, 'AAAA')
          : value,
      ]),
    ),
    address: webhook.address.replace(
      /(vnp_SecureHash=)[^&]*/,
      (_all, name: string) => name + '0'.repeat(128),
    ),
    body: webhook.body.replace(
      /("(?:signature|checksum)":")([^"]*)/,
      (_all, name: string, mac: string) => name + '0'.repeat(mac.length),
    ),
  }),
}
