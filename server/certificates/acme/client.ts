/**
 * An ACME client (RFC 8555): accounts, orders, challenges, certificates, and renewal times (RFC
 * 9773). It decides nothing and stores only nonces and the directory. A refusal is an AcmeProblem
 * with the authority's type and the time to wait; every other failure is a DriverFailure (decision
 * 65).
 */
import * as z from 'zod'
import { DriverFailure } from '../../platform/errors.ts'
import { callHttp, jsonOf, type HttpAnswer } from '../../platform/http-client.ts'
import { externalBinding, signedCall, type ExternalAccount } from './jws.ts'

/** An authority's refusal (RFC 7807). */
export class AcmeProblem extends Error {
  /** The type without `urn:ietf:params:acme:error:`, such as `rateLimited`. */
  readonly type: string
  readonly status: number
  /** How long the authority asks to wait, ms; undefined where it does not say. */
  readonly waitMs: number | undefined
  constructor(type: string, detail: string, status: number, waitMs?: number) {
    super(detail)
    this.name = 'AcmeProblem'
    this.type = type
    this.status = status
    this.waitMs = waitMs
  }
}

const Problem = z.object({ type: z.string().default(''), detail: z.string().default('') })
const Directory = z.object({
  newNonce: z.url(),
  newAccount: z.url(),
  newOrder: z.url(),
  renewalInfo: z.url().optional(),
  meta: z.object({ externalAccountRequired: z.boolean().optional() }).optional(),
})
const statuses = ['pending', 'ready', 'processing', 'valid', 'invalid'] as const
const Order = z.object({
  status: z.enum(statuses),
  authorizations: z.array(z.url()),
  finalize: z.url(),
  certificate: z.url().optional(),
  error: Problem.optional(),
})
const Challenge = z.object({
  type: z.string(),
  url: z.string(),
  status: z.string(),
  token: z.string().optional(),
  error: Problem.optional(),
})
const Authorization = z.object({
  identifier: z.object({ value: z.string() }),
  wildcard: z.boolean().optional(),
  status: z.string(),
  challenges: z.array(Challenge),
})
const RenewalInfo = z.object({ suggestedWindow: z.object({ start: z.string(), end: z.string() }) })

export type AcmeOrder = z.output<typeof Order>
export type AcmeAuthorization = z.output<typeof Authorization>

/** A response, and the time to wait before the next query (Retry-After), ms. */
export interface Read<T> {
  readonly value: T
  readonly waitMs: number | undefined
}

export interface AcmeClient {
  /** Whether an account needs a binding to another contract with the authority. */
  needsBinding(): Promise<boolean>
  /** The account's URL; the account is created if the key has none. */
  account(of: {
    readonly contact: string | undefined
    readonly binding: ExternalAccount | undefined
  }): Promise<string>
  /** `replaces`: `renewalId` of the certificate that it renews. */
  newOrder(
    account: string,
    of: { readonly names: readonly string[]; readonly replaces?: string | undefined },
  ): Promise<{ readonly url: string; readonly order: AcmeOrder }>
  order(account: string, url: string): Promise<Read<AcmeOrder>>
  authorization(account: string, url: string): Promise<Read<AcmeAuthorization>>
  /** Tells the authority that it may look. */
  begin(account: string, challengeUrl: string): Promise<void>
  /** `request`: the certificate request in DER. */
  finalize(account: string, url: string, request: Buffer): Promise<Read<AcmeOrder>>
  /** The chain in PEM. */
  certificate(account: string, url: string): Promise<string>
  /** When it should be renewed; undefined where the authority does not tell. */
  renewalWindow(
    renewalId: string,
  ): Promise<{ readonly start: Date; readonly end: Date; readonly waitMs?: number } | undefined>
}

const peer = 'acme'
/** A refusal has a body, which callHttp returns only for these statuses. */
const refusals = Array.from({ length: 200 }, (_, index) => 400 + index)
/**
 * An authority under load may refuse good nonces again and again (RFC 8555, 6.5 asks to try again);
 * a try costs one round trip, and an order is a dozen calls.
 */
const nonceTries = 12
const directoryKeptMs = 3_600_000
/** Longest time that an authority's word is taken for, ms. */
const longestWaitMs = 86_400_000
const prefix = 'urn:ietf:params:acme:error:'

/** Retry-After in ms: the header has seconds or a date (RFC 9110, 10.2.3). */
export function waitOf(headers: Headers, now = Date.now()): number | undefined {
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), longestWaitMs)
}

/** `keyPem`: the account's private key. */
export function openAcme(directoryUrl: string, keyPem: string, timeoutMs = 20_000): AcmeClient {
  let directory: { readonly read: z.output<typeof Directory>; readonly at: number } | undefined
  const nonces: string[] = []

  function keepNonce({ headers }: HttpAnswer): void {
    const nonce = headers.get('replay-nonce')
    if (nonce !== null && nonces.length < 16) nonces.push(nonce)
  }
  function problemOf(answer: HttpAnswer): Error {
    const waitMs = waitOf(answer.headers)
    let told: z.output<typeof Problem> | undefined
    try {
      told = Problem.parse(JSON.parse(answer.text))
    } catch {
      told = undefined
    }
    const type = told?.type.startsWith(prefix) === true ? told.type.slice(prefix.length) : ''
    if (told === undefined || (answer.status >= 500 && type === ''))
      return new DriverFailure('unavailable', `${peer}: status ${answer.status}`)
    return new AcmeProblem(type, told.detail.slice(0, 500), answer.status, waitMs)
  }
  function parsed<T>(schema: z.ZodType<T>, answer: HttpAnswer): T {
    const read = schema.safeParse(jsonOf(answer, peer))
    if (!read.success) throw new DriverFailure('unavailable', `${peer}: an answer of another form`)
    return read.data
  }
  const get = (url: string): Promise<HttpAnswer> =>
    callHttp({ peer, method: 'GET', url, timeoutMs, accept: refusals })

  async function readDirectory(): Promise<z.output<typeof Directory>> {
    if (directory && performance.now() - directory.at < directoryKeptMs) return directory.read
    const answer = await get(directoryUrl)
    if (answer.status >= 400) throw problemOf(answer)
    const read = parsed(Directory, answer)
    directory = { read, at: performance.now() }
    return read
  }
  async function nonce(): Promise<string> {
    const kept = nonces.pop()
    if (kept !== undefined) return kept
    const answer = await get((await readDirectory()).newNonce)
    const fresh = answer.headers.get('replay-nonce')
    if (fresh === null) throw new DriverFailure('unavailable', `${peer}: no nonce`)
    return fresh
  }

  async function post(
    account: string | null,
    url: string,
    payload: object | null,
  ): Promise<HttpAnswer> {
    for (let tries = 1; ; tries++) {
      const jws = signedCall(keyPem, { url, nonce: await nonce(), account }, payload)
      const answer = await callHttp({
        peer,
        method: 'POST',
        url,
        body: { type: 'application/jose+json', text: JSON.stringify(jws) },
        timeoutMs,
        accept: refusals,
        // Repeating is safe: existing accounts and orders are returned again, and other calls only
        // read or repeat.
        repeatable: true,
      })
      keepNonce(answer)
      if (answer.status < 400) return answer
      const problem = problemOf(answer)
      if (!(problem instanceof AcmeProblem && problem.type === 'badNonce') || tries >= nonceTries)
        throw problem
    }
  }
  const read = async <T>(
    schema: z.ZodType<T>,
    account: string,
    url: string,
    payload: object | null = null,
  ): Promise<Read<T>> => {
    const answer = await post(account, url, payload)
    return { value: parsed(schema, answer), waitMs: waitOf(answer.headers) }
  }
  const locationOf = ({ headers }: HttpAnswer): string => {
    const location = headers.get('location')
    if (location === null) throw new DriverFailure('unavailable', `${peer}: no location`)
    return location
  }

  return {
    needsBinding: async () => (await readDirectory()).meta?.externalAccountRequired === true,
    async account({ contact, binding }) {
      const { newAccount } = await readDirectory()
      const answer = await post(null, newAccount, {
        termsOfServiceAgreed: true,
        ...(contact !== undefined && { contact: [`mailto:${contact}`] }),
        ...(binding && { externalAccountBinding: externalBinding(keyPem, binding, newAccount) }),
      })
      return locationOf(answer)
    },
    async newOrder(account, { names, replaces }) {
      const { newOrder, renewalInfo } = await readDirectory()
      const answer = await post(account, newOrder, {
        identifiers: names.map((value) => ({ type: 'dns', value })),
        ...(replaces !== undefined && renewalInfo !== undefined && { replaces }),
      })
      return { url: locationOf(answer), order: parsed(Order, answer) }
    },
    order: (account, url) => read(Order, account, url),
    authorization: (account, url) => read(Authorization, account, url),
    begin: async (account, url) => void (await post(account, url, {})),
    finalize: (account, url, request) =>
      read(Order, account, url, { csr: request.toString('base64url') }),
    certificate: async (account, url) => (await post(account, url, null)).text,
    async renewalWindow(renewalId) {
      const { renewalInfo } = await readDirectory()
      if (renewalInfo === undefined) return undefined
      const answer = await get(`${renewalInfo.replace(/\/$/, '')}/${renewalId}`)
      if (answer.status === 404) return undefined
      if (answer.status >= 400) throw problemOf(answer)
      const { suggestedWindow } = parsed(RenewalInfo, answer)
      const [start, end] = [new Date(suggestedWindow.start), new Date(suggestedWindow.end)]
      if (Number.isNaN(start.getTime()) || Number.isNaN(end.getTime())) return undefined
      const waitMs = waitOf(answer.headers)
      return { start, end, ...(waitMs !== undefined && { waitMs }) }
    },
  }
}
