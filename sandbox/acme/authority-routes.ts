/** One authority's ACME endpoints: nonces, accounts, orders, challenges, certificates. */
import { randomBytes, X509Certificate } from 'node:crypto'
import type { Database } from '../database.ts'
import { json, type Call, type Reply, type Routes } from '../http.ts'
import { registrableOf } from '../registry/names.ts'
import { readRequest, renewalIdOf, type Authority } from './authority.ts'
import type { Behaviour } from './behaviour.ts'
import { isBound, readCall, thumbprintOf, type Jwk } from './jws.ts'
import { forbidden, overDns, overHttp, type Fault, type Validation } from './validate.ts'

/** A certificate that was issued. */
export interface Issued {
  readonly id: string
  readonly account: string
  readonly names: readonly string[]
  readonly chain: string
  readonly at: Date
  /** The renewal id of the certificate that this one replaces, if the client named one. */
  readonly replaces: string | undefined
  revoked: boolean
}
export interface OpenAuthority {
  /** The authority's part of the address. */
  readonly id: string
  readonly name: string
  readonly authority: Authority
  readonly binding: { readonly keyId: string; readonly hmacKey: string } | undefined
  behaviour: Behaviour
  /** Newest first. */
  readonly issued: Issued[]
}

interface Account {
  readonly id: string
  readonly key: Jwk
  readonly contact: unknown
}
interface Challenge {
  readonly id: string
  readonly type: 'http-01' | 'dns-01'
  readonly token: string
  status: 'pending' | 'processing' | 'valid' | 'invalid'
  fault?: Fault
}
interface Authorization {
  readonly id: string
  readonly account: Account
  readonly name: string
  readonly wildcard: boolean
  readonly challenges: readonly Challenge[]
  status: 'pending' | 'valid' | 'invalid' | 'deactivated'
}
interface Order {
  readonly id: string
  readonly account: Account
  readonly names: readonly string[]
  readonly authorizations: readonly Authorization[]
  readonly replaces: string | undefined
  status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid'
  /** The public key from the certificate request. */
  request?: Buffer
  certificate?: Issued
}

const keptNonces = 10_000
const retrySeconds = 1
const weekMs = 7 * 86_400_000
const hostName = /^(?=.{1,253}$)(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/

const newId = (): string => randomBytes(12).toString('base64url')

class Problem extends Error {
  readonly type: string
  readonly status: number
  readonly retryAfter: number | undefined
  constructor(type: string, detail: string, status = 400, retryAfter?: number) {
    super(detail)
    this.type = type
    this.status = status
    this.retryAfter = retryAfter
  }
}
const faultOf = ({ type, detail }: { type: string; detail: string }) => ({
  type: `urn:ietf:params:acme:error:${type}`,
  detail,
})

/** `base`: the authority's address, without a slash at the end. */
export function authorityRoutes(
  db: Database,
  of: OpenAuthority,
  validation: Validation,
  base: () => string,
): Routes {
  const nonces = new Set<string>()
  const accounts = new Map<string, Account>()
  const authorizations = new Map<string, Authorization>()
  const orders = new Map<string, Order>()

  function nonce(): string {
    const fresh = newId()
    nonces.add(fresh)
    for (const old of nonces) {
      if (nonces.size <= keptNonces) break
      nonces.delete(old)
    }
    return fresh
  }
  const reply = (value: unknown, status = 200, headers: Record<string, string> = {}): Reply => {
    const plain = json(value, status)
    return { ...plain, headers: { ...plain.headers, ...headers } }
  }

  interface Signed {
    readonly payload: Readonly<Record<string, unknown>> | undefined
    readonly key: Jwk
    /** Undefined for a key without an account. */
    readonly account: Account | undefined
    readonly params: Readonly<Record<string, string>>
  }
  /** Verifies a call; throws a Problem. */
  function open(call: Call): Signed {
    const signed = readCall(call.body)
    if (!signed) throw new Problem('malformed', 'the body is no signed call')
    const isGood = nonces.delete(signed.nonce) && Math.random() >= of.behaviour.badNonces
    if (!isGood) throw new Problem('badNonce', 'the nonce is not one of ours, or was used')
    if (signed.url !== `${base().replace(/\/acme\/.*/, '')}${call.path}`)
      throw new Problem('unauthorized', 'signed for another address', 403)
    const id = signed.kid?.startsWith(`${base()}/account/`) === true ? signed.kid : undefined
    const account = accounts.get(id?.slice(id.lastIndexOf('/') + 1) ?? '')
    if (signed.kid !== undefined && !account)
      throw new Problem('accountDoesNotExist', 'there is no such account')
    const key = account?.key ?? signed.jwk
    if (!key || !signed.isSignedBy(key))
      throw new Problem('malformed', 'the signature does not verify')
    return {
      payload: signed.payload,
      key,
      account:
        account ??
        [...accounts.values()].find((one) => thumbprintOf(one.key) === thumbprintOf(key)),
      params: call.params,
    }
  }
  /** What every call shares: the faults that were switched on, a nonce, and problems as answers. */
  const guarded =
    (act: (call: Call) => Reply | Promise<Reply>) =>
    async (call: Call): Promise<Reply> => {
      const { mode, slowMs } = of.behaviour
      if (mode === 'down') return { status: 503, body: 'Service Unavailable\n' }
      if (mode === 'slow') await new Promise((resolve) => setTimeout(resolve, slowMs))
      const answered = await Promise.resolve()
        .then(() => act(call))
        .catch((error: unknown) => {
          if (!(error instanceof Problem)) throw error
          return reply(faultOf({ type: error.type, detail: error.message }), error.status, {
            'content-type': 'application/problem+json',
            ...(error.retryAfter !== undefined && { 'retry-after': String(error.retryAfter) }),
          })
        })
      return {
        ...answered,
        headers: {
          ...answered.headers,
          'replay-nonce': nonce(),
          link: [answered.headers?.['link'] ?? [], `<${base()}/directory>;rel="index"`].flat(),
        },
      }
    }
  const signed = (act: (signed: Signed & { readonly account: Account }) => Reply) =>
    guarded((call) => {
      const read = open(call)
      const { account } = read
      if (!account) throw new Problem('accountDoesNotExist', 'there is no such account')
      return act({ ...read, account })
    })
  const own = <T extends { readonly account: Account }>(
    of: ReadonlyMap<string, T>,
    { account, params }: { account: Account; params: Readonly<Record<string, string>> },
  ): T => {
    const found = of.get(params['id'] ?? '')
    if (found?.account !== account) throw new Problem('malformed', 'there is no such thing', 404)
    return found
  }

  const shownOrder = (order: Order) => ({
    status: order.status,
    identifiers: order.names.map((value) => ({ type: 'dns', value })),
    authorizations: order.authorizations.map(({ id }) => `${base()}/authz/${id}`),
    finalize: `${base()}/finalize/${order.id}`,
    ...(order.certificate && { certificate: `${base()}/cert/${order.certificate.id}` }),
    ...(order.status === 'invalid' && {
      error: faultOf({ type: 'unauthorized', detail: 'a name was not proven' }),
    }),
  })
  const shownChallenge = ({ id, type, token, status, fault }: Challenge) => ({
    type,
    url: `${base()}/challenge/${id}`,
    token,
    status,
    ...(fault && { error: faultOf(fault) }),
  })
  const answerOrder = (order: Order, status = 200): Reply =>
    reply(shownOrder(order), status, {
      location: `${base()}/order/${order.id}`,
      ...(order.status === 'processing' && { 'retry-after': String(retrySeconds) }),
    })

  function refuseTooMany(names: readonly string[], replaces: string | undefined): void {
    // A renewal that names the certificate it replaces does not count towards the limit (RFC 9773,
    // 5).
    if (of.issued.some(({ chain }) => renewalIdOf(chain) === replaces)) return
    const { perDomain } = of.behaviour
    for (const name of names) {
      const domain = registrableOf(name) ?? name
      const lately = of.issued.filter(
        (one) =>
          one.at.getTime() > Date.now() - weekMs &&
          one.names.some((held) => (registrableOf(held) ?? held) === domain),
      )
      if (lately.length >= perDomain)
        throw new Problem(
          'rateLimited',
          `too many certificates (${perDomain}) already issued for "${domain}" in a week`,
          429,
          3600,
        )
    }
  }
  function namesOf(payload: Signed['payload']): string[] {
    const given = payload?.['identifiers']
    const names = (Array.isArray(given) ? given : []).map(
      (one: { type?: string; value?: string }) =>
        one.type === 'dns' ? String(one.value).toLowerCase() : '',
    )
    if (names.length === 0 || names.length > 100)
      throw new Problem('malformed', 'between one and a hundred names are wanted')
    for (const name of names)
      if (!hostName.test(name))
        throw new Problem('rejectedIdentifier', `${name} is no name that we issue for`)
    return [...new Set(names)]
  }
  function newOrder({ account, payload }: Signed & { readonly account: Account }): Reply {
    if (of.behaviour.mode === 'refuses')
      throw new Problem('rejectedIdentifier', 'the authority refuses to issue for this name', 403)
    const names = namesOf(payload)
    const replaces = payload?.['replaces'] as string | undefined
    refuseTooMany(names, replaces)
    const order: Order = {
      id: newId(),
      account,
      names,
      authorizations: names.map((name): Authorization => {
        const wildcard = name.startsWith('*.')
        const types = wildcard ? (['dns-01'] as const) : (['http-01', 'dns-01'] as const)
        return {
          id: newId(),
          account,
          name: name.replace(/^\*\./, ''),
          wildcard,
          status: 'pending',
          challenges: types.map((type) => ({
            id: newId(),
            type,
            token: newId() + newId(),
            status: 'pending',
          })),
        }
      }),
      replaces,
      status: 'pending',
    }
    orders.set(order.id, order)
    for (const one of order.authorizations) authorizations.set(one.id, one)
    return answerOrder(order, 201)
  }

  async function look(authorization: Authorization, challenge: Challenge): Promise<void> {
    const { name, account } = authorization
    const expected = `${challenge.token}.${thumbprintOf(account.key)}`
    const fault =
      (await forbidden(db, validation, name)) ??
      (challenge.type === 'http-01'
        ? await overHttp(db, validation, { name, token: challenge.token, expected })
        : await overDns(db, validation, { name, expected }))
    challenge.status = fault ? 'invalid' : 'valid'
    if (fault) challenge.fault = fault
    authorization.status = challenge.status
    for (const order of orders.values()) {
      if (!order.authorizations.includes(authorization) || order.status !== 'pending') continue
      const states = order.authorizations.map(({ status }) => status)
      if (states.includes('invalid')) order.status = 'invalid'
      else if (states.every((status) => status === 'valid')) order.status = 'ready'
    }
  }
  function begin({ account, params }: Signed & { readonly account: Account }): Reply {
    for (const authorization of authorizations.values()) {
      const challenge = authorization.challenges.find(({ id }) => id === params['id'])
      if (!challenge || authorization.account !== account) continue
      if (challenge.status === 'pending' && authorization.status === 'pending') {
        challenge.status = 'processing'
        look(authorization, challenge).catch((error: unknown) => {
          challenge.status = authorization.status = 'invalid'
          challenge.fault = { type: 'connection', detail: (error as Error).message }
        })
      }
      return reply(shownChallenge(challenge), 200, {
        link: `<${base()}/authz/${authorization.id}>;rel="up"`,
      })
    }
    throw new Problem('malformed', 'there is no such challenge', 404)
  }

  /** Issues the certificate of an order that is proven and has a request. */
  function complete(order: Order): void {
    if (!order.request || of.behaviour.mode === 'stuck') return
    order.certificate = {
      id: newId(),
      account: order.account.id,
      names: order.names,
      chain: of.authority.issue(order.request, order.names, of.behaviour.lifeSeconds),
      at: new Date(),
      replaces: order.replaces,
      revoked: false,
    }
    order.status = 'valid'
    of.issued.unshift(order.certificate)
  }
  function finalize(call: Signed & { readonly account: Account }): Reply {
    const order = own(orders, call)
    if (order.status === 'valid' || order.status === 'processing') return answerOrder(order)
    if (order.status !== 'ready')
      throw new Problem('orderNotReady', `the order is ${order.status}`, 403)
    const request = readRequest(Buffer.from(String(call.payload?.['csr']), 'base64url'))
    if (!request) throw new Problem('badCSR', 'the request is not whole or not signed')
    const wanted = order.names.toSorted().join(' ')
    if (request.names.toSorted().join(' ') !== wanted)
      throw new Problem('badCSR', `the request names ${request.names.join(', ')}`)
    // The order is only `processing` at first, as at real authorities; the next query finds it
    // valid.
    order.status = 'processing'
    order.request = request.spki
    return answerOrder(order)
  }

  function newAccount(call: Call): Reply {
    const { payload, key, account } = open(call)
    const shown = (one: Account, status: number): Reply =>
      reply({ status: 'valid', contact: one.contact ?? [], orders: `${base()}/orders` }, status, {
        location: `${base()}/account/${one.id}`,
      })
    if (account) return shown(account, 200)
    if (payload?.['onlyReturnExisting'] === true)
      throw new Problem('accountDoesNotExist', 'no account has this key')
    const { binding } = of
    if (binding && payload?.['externalAccountBinding'] === undefined)
      throw new Problem('externalAccountRequired', 'an external account is wanted', 403)
    const bound =
      !binding ||
      isBound(payload?.['externalAccountBinding'], {
        keyId: binding.keyId,
        hmacKey: Buffer.from(binding.hmacKey, 'base64url'),
        key,
        url: `${base()}/new-account`,
      })
    if (!bound) throw new Problem('unauthorized', 'the external account is another one', 403)
    if (payload?.['termsOfServiceAgreed'] !== true)
      throw new Problem('userActionRequired', 'the terms have to be agreed to', 403)
    const made: Account = { id: newId(), key, contact: payload['contact'] }
    accounts.set(made.id, made)
    return shown(made, 201)
  }

  function revoke(call: Call): Reply {
    const { payload, account, key } = open(call)
    const der = Buffer.from(String(payload?.['certificate']), 'base64url')
    const one = of.issued.find(({ chain }) => new X509Certificate(chain).raw.equals(der))
    if (!one) throw new Problem('malformed', 'no certificate of ours', 404)
    const byKey = thumbprintOf(key) === thumbprintOf(keyOf(one.chain))
    if (!byKey && one.account !== account?.id)
      throw new Problem('unauthorized', 'the certificate is another account’s', 403)
    if (one.revoked) throw new Problem('alreadyRevoked', 'it was revoked before')
    one.revoked = true
    return { status: 200 }
  }
  function renewalInfo({ params }: Call): Reply {
    const one = of.issued.find(({ chain }) => renewalIdOf(chain) === params['id'])
    if (!one) throw new Problem('malformed', 'no certificate of ours', 404)
    const { validFrom, validTo } = new X509Certificate(one.chain)
    const [from, until] = [Date.parse(validFrom), Date.parse(validTo)]
    const at = (share: number): string => new Date(from + (until - from) * share).toISOString()
    const past = new Date(Date.now() - weekMs).toISOString()
    const suggestedWindow = one.revoked
      ? { start: past, end: past }
      : { start: at(0.66), end: at(0.68) }
    return reply({ suggestedWindow }, 200, { 'retry-after': '21600' })
  }

  const at = `/acme/${of.id}`
  const newNonce = guarded(() => ({ status: 204, headers: { 'cache-control': 'no-store' } }))
  return {
    [`GET ${at}/directory`]: guarded(() =>
      reply({
        newNonce: `${base()}/new-nonce`,
        newAccount: `${base()}/new-account`,
        newOrder: `${base()}/new-order`,
        revokeCert: `${base()}/revoke-cert`,
        keyChange: `${base()}/key-change`,
        renewalInfo: `${base()}/renewal-info`,
        meta: {
          termsOfService: `${base().replace(/\/acme\/.*/, '')}/acme`,
          caaIdentities: ['acme.sandbox', 'letsencrypt.org'],
          externalAccountRequired: of.binding !== undefined,
        },
      }),
    ),
    [`GET ${at}/new-nonce`]: newNonce,
    [`POST ${at}/new-account`]: guarded(newAccount),
    [`POST ${at}/account/:id`]: signed(({ account }) =>
      reply({ status: 'valid', contact: account.contact ?? [] }),
    ),
    [`POST ${at}/new-order`]: signed(newOrder),
    [`POST ${at}/order/:id`]: signed((call) => {
      const order = own(orders, call)
      if (order.status === 'processing') complete(order)
      return answerOrder(order)
    }),
    [`POST ${at}/authz/:id`]: signed((call) => {
      const authorization = own(authorizations, call)
      if (call.payload?.['status'] === 'deactivated') authorization.status = 'deactivated'
      const { name, wildcard, status, challenges } = authorization
      return reply({
        identifier: { type: 'dns', value: name },
        status,
        ...(wildcard && { wildcard }),
        challenges: challenges.map(shownChallenge),
      })
    }),
    [`POST ${at}/challenge/:id`]: signed(begin),
    [`POST ${at}/finalize/:id`]: signed(finalize),
    [`POST ${at}/cert/:id`]: signed(({ account, params }) => {
      const one = of.issued.find(({ id }) => id === params['id'])
      if (one?.account !== account.id)
        throw new Problem('malformed', 'no certificate of yours', 404)
      return {
        status: 200,
        headers: { 'content-type': 'application/pem-certificate-chain' },
        body: one.chain,
      }
    }),
    [`POST ${at}/revoke-cert`]: guarded(revoke),
    [`GET ${at}/renewal-info/:id`]: guarded(renewalInfo),
  }
}

const keyOf = (chain: string): Jwk => {
  const jwk = new X509Certificate(chain).publicKey.export({ format: 'jwk' })
  return Object.fromEntries(
    Object.entries(jwk).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
