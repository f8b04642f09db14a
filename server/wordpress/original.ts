/**
 * Reads pages of a website that a customer names. It connects to public addresses only, and to the
 * very address that was checked: a name that then resolves differently changes nothing.
 */
import http from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import type { DnsLookup } from '../platform/dns-lookup.ts'
import { judgedAddress, type MayConnect } from '../platform/judged-address.ts'
import { isPublicAddress } from '../platform/network.ts'

export interface OriginalPage {
  readonly status: number
  readonly text: string
}

export interface Originals {
  /** Follows redirects. Rejects with a plain Error where no page comes. */
  page(url: string): Promise<OriginalPage>
}

const usualPorts = new Set([80, 443])
export const publicOnly: MayConnect = (address, port) =>
  isPublicAddress(address) && usualPorts.has(port)

const mostRedirects = 4
const longestMs = 10_000
const mostBytes = 524_288

/** An address as people type it, with its scheme; undefined where it is invalid. */
export function readOrigin(typed: string): string | undefined {
  const text = typed.trim()
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  const isSound =
    url.username === '' &&
    url.password === '' &&
    (url.hostname.includes('.') || url.hostname.startsWith('['))
  return isSound ? `${url.origin}${url.pathname.replace(/\/+$/, '')}` : undefined
}

export function createOriginals(dns: DnsLookup, mayConnect: MayConnect = publicOnly): Originals {
  async function addressOf(host: string, port: number): Promise<string> {
    const judged = await judgedAddress(dns, host, port, mayConnect)
    if (judged === 'none') throw new Error('the name has no address')
    if (judged === 'refused') throw new Error('the address is not public')
    return judged.address
  }

  async function ask(url: URL): Promise<OriginalPage & { location: string | undefined }> {
    const isTls = url.protocol === 'https:'
    const port = Number(url.port) || (isTls ? 443 : 80)
    const address = await addressOf(url.hostname, port)
    return await new Promise((resolve, reject) => {
      const call = (isTls ? https : http).request(
        {
          host: address,
          port,
          path: url.pathname + url.search,
          headers: {
            host: url.host,
            accept: 'text/html',
            'accept-encoding': 'identity',
            'user-agent': 'Mozilla/5.0 (compatible; portal-move-in)',
          },
          agent: false,
          signal: AbortSignal.timeout(longestMs),
          // An invalid or expired certificate is accepted: nothing secret is sent, and the answer
          // is only compared.
          ...(isTls && {
            rejectUnauthorized: false,
            ...(isIP(url.hostname) === 0 && { servername: url.hostname }),
          }),
        },
        (answer) => {
          const chunks: Buffer[] = []
          let bytes = 0
          const done = (): void =>
            resolve({
              status: answer.statusCode ?? 0,
              location: answer.headers.location,
              text: Buffer.concat(chunks).toString('utf8'),
            })
          answer.on('data', (chunk: Buffer) => {
            chunks.push(chunk)
            bytes += chunk.length
            if (bytes < mostBytes) return
            done()
            call.destroy()
          })
          answer.on('error', reject)
          answer.on('end', done)
        },
      )
      call.on('error', reject)
      // For an answer that changes the protocol (101) Node emits neither event: the connection
      // ends.
      call.on('close', () => reject(new Error('the connection was closed')))
      call.end()
    })
  }

  return {
    async page(address) {
      let url = new URL(address)
      for (let step = 0; step <= mostRedirects; step++) {
        if (url.protocol !== 'http:' && url.protocol !== 'https:')
          throw new Error('no address of a web page')
        const { status, location, text } = await ask(url)
        if (location === undefined || status < 300 || status > 399) return { status, text }
        if (!URL.canParse(location, url.href)) throw new Error('it redirects to nowhere')
        url = new URL(location, url.href)
      }
      throw new Error('it redirects too often')
    },
  }
}
