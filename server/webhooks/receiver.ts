/**
 * Calls an address that a customer wrote. It connects only to public addresses, and to the one that
 * was checked; follows no redirect; and reads at most ten seconds and a kilobyte.
 */
import http from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import type { WebhookAttempt } from '../../contract/webhooks.ts'
import type { DnsLookup } from '../platform/dns-lookup.ts'
import { bareHost, judgedAddress, type MayConnect } from '../platform/judged-address.ts'
import { isPublicAddress } from '../platform/network.ts'

/** Longest time of a call, ms. */
const longestCallMs = 10_000
const keptBytes = 1024

/**
 * Other ports of a public address may be open to us only, such as those of the portal's own
 * machine.
 */
const ports = new Set([443, 8443])
export const publicHttps: MayConnect = (address, port) =>
  ports.has(port) && isPublicAddress(address)

const portOf = (url: URL): number => Number(url.port) || (url.protocol === 'https:' ? 443 : 80)

/**
 * An address in its stored form; undefined: it may never be called. `plain`: http is allowed too.
 * The name's target is checked at each call.
 */
export function readReceiver(
  typed: string,
  of: { readonly plain: boolean; readonly mayConnect: MayConnect },
): string | undefined {
  if (!URL.canParse(typed)) return undefined
  const url = new URL(typed)
  if (url.protocol !== 'https:' && !(of.plain && url.protocol === 'http:')) return undefined
  if (url.username !== '' || url.password !== '' || url.hash !== '') return undefined
  const host = bareHost(url.hostname)
  if (isIP(host) !== 0) return of.mayConnect(host, portOf(url)) ? url.href : undefined
  const isKnown = of.plain || ports.has(portOf(url))
  return host.includes('.') && !host.endsWith('.') && isKnown ? url.href : undefined
}

export interface CallOutcome extends Pick<WebhookAttempt, 'status' | 'error' | 'ms'> {
  readonly answer: string | null
}

export interface Receivers {
  /** Rejects only if `signal` is aborted: then the outcome is unknown. */
  call(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<CallOutcome>
}

/** Node's and OpenSSL's codes for a certificate that is for another host or untrusted. */
const ofCertificate = /CERT|SIGNATURE|ALTNAME|SSL|TLS/

function errorOf(error: unknown): NonNullable<WebhookAttempt['error']> {
  const { name, code } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError' || name === 'AbortError' || code === 'ABORT_ERR') return 'timeout'
  return ofCertificate.test(code ?? '') ? 'certificate' : 'connection'
}

/** Text that the database takes. */
const textOf = (bytes: Buffer): string =>
  bytes.subarray(0, keptBytes).toString('utf8').replaceAll('\0', '')

/** `longestMs`: of a call. */
export function createReceivers(
  dns: DnsLookup,
  mayConnect: MayConnect,
  longestMs = longestCallMs,
): Receivers {
  async function ask(
    url: URL,
    address: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<{ status: number; answer: string }> {
    const isTls = url.protocol === 'https:'
    return await new Promise((resolve, reject) => {
      const call = (isTls ? https : http).request(
        {
          method: 'POST',
          host: address,
          port: portOf(url),
          path: url.pathname + url.search,
          headers: {
            host: url.host,
            'content-type': 'application/json; charset=utf-8',
            'content-length': Buffer.byteLength(body),
            'user-agent': 'portal-webhooks',
            ...headers,
          },
          agent: false,
          signal,
          ...(isTls && isIP(bareHost(url.hostname)) === 0 && { servername: url.hostname }),
        },
        (answer) => {
          const chunks: Buffer[] = []
          let bytes = 0
          // The status is what counts: an answer that goes on for ever is cut off.
          const done = (): void => {
            resolve({ status: answer.statusCode ?? 0, answer: textOf(Buffer.concat(chunks)) })
            call.destroy()
          }
          answer.on('data', (chunk: Buffer) => {
            chunks.push(chunk)
            bytes += chunk.length
            if (bytes >= keptBytes) done()
          })
          answer.on('error', done)
          answer.on('end', done)
        },
      )
      call.on('error', reject)
      // Node tells neither of an answer that changes the protocol (101): the connection ends.
      call.on('close', () => reject(new Error('the connection was closed')))
      call.end(body)
    })
  }

  return {
    async call(address, headers, body, signal) {
      const began = performance.now()
      const ms = (): number => Math.round(performance.now() - began)
      const url = new URL(address)
      const none = (error: WebhookAttempt['error']): CallOutcome => {
        return { status: null, error, answer: null, ms: ms() }
      }
      const judged = await judgedAddress(dns, url.hostname, portOf(url), mayConnect)
      if (judged === 'none') return none('unknown_host')
      if (judged === 'refused') return none('address_refused')
      const limit = AbortSignal.any([signal, AbortSignal.timeout(longestMs)])
      try {
        const { status, answer } = await ask(url, judged.address, headers, body, limit)
        return { status, error: null, answer, ms: ms() }
      } catch (error) {
        signal.throwIfAborted()
        return none(errorOf(error))
      }
    },
  }
}
