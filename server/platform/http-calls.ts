/** What a module gets of a request, and what it may answer with. */
import type { Endpoint, Input, Language, Output } from '../../contract/index.ts'
import type { MemberRole } from '../../contract/member-roles.ts'
import type { TokenRights } from '../../contract/token-scopes.ts'
import type { Tx } from './db.ts'
import type { StaffCaller } from './http-staff.ts'

/** Somebody who works in the account of another customer (decision 107). */
export interface MemberAtWork {
  readonly memberId: string
  /** Ends with the person's own session. */
  readonly actingId: string
  /** The person's own account. */
  readonly personId: string
  readonly name: string
  readonly role: MemberRole
}

/** Who calls, as the auth module says. */
export interface Caller {
  /** Whose account it is about. */
  readonly customerId: string
  /**
   * Of a program the id of its token, of a view its own: neither is a session's. Of a member that
   * of the person's own session.
   */
  readonly sessionId: string
  /** Only calls that say so are open to it. */
  readonly locked: boolean
  /**
   * What the call carries: the bearer token of the session, its cookie, a program's token, the
   * token of a member of the staff who sees the portal as the customer does, or that of somebody
   * who works in the account.
   */
  readonly heldBy: 'token' | 'cookie' | 'program' | 'view' | 'member'
  /** What a program's token may do; undefined for a customer in person. */
  readonly rights?: TokenRights
  /** Of a program or a member: which servers and domains it sees; null: all. */
  readonly limits?: {
    readonly servers: readonly string[] | null
    readonly domains: readonly string[] | null
  }
  /** Who acts for the customer; undefined for the customer in person. */
  readonly member?: MemberAtWork
}

/** A token for programs that is alive. */
export interface ProgramToken {
  readonly id: string
  readonly customerId: string
  readonly rights: TokenRights
  /** Whether it may be used from where the call comes from. */
  readonly fromHere: boolean
}

/** What a member of the staff sees as a customer does. */
export interface Viewer {
  readonly id: string
  readonly customerId: string
}

/** What a call says who it is of. */
export type Credential = { readonly token: string } | { readonly cookie: string }

/** What the caller's browser holds by a cookie that no script can read. */
export interface Held {
  /** What the browser sent, whether it is good for anything or not; undefined without one. */
  readonly cookie: string | undefined
  /** Has it hold this one: for so many seconds, or until it is closed. */
  keep(cookie: string, maxAgeSeconds?: number): void
  drop(): void
}

/** Where a call comes from. */
export interface Origin {
  readonly ip: string
  /** What limits count the address as: an IPv4 address, or the /64 of an IPv6 address. */
  readonly network: string
  /** What the browser's cookie says; a new name where there is none. It grants no access. */
  readonly browser: string
  /** At most 300 characters of it; empty without one. */
  readonly userAgent: string
}

export interface Call<E extends Endpoint> {
  readonly params: Output<E['params']>
  readonly query: Output<E['query']>
  readonly body: Output<E['body']>
  /** The signed-in customer's id; empty for public calls. */
  readonly customerId: string
  readonly caller: Caller | undefined
  readonly language: Language
  readonly ip: string
  readonly from: Origin
  /** Has the browser keep the name that `from.browser` gives it, for 90 days. */
  readonly keepBrowser: () => void
  /** The session. */
  readonly held: Held
  /** That it is not asked for the second factor. */
  readonly device: Held
  /** The signed-in member of the staff; undefined for all other calls. */
  readonly staff: StaffCaller | undefined
  /** The session of a member of the staff. */
  readonly staffHeld: Held
}
/** A call of which only the caller is known. */
export type From = Omit<Call<Endpoint>, 'params' | 'query' | 'body'>
/**
 * POST, PUT and DELETE run in one transaction, together with the answer that is kept for their
 * Idempotency-Key. `prepared`: what was worked out before the transaction began.
 */
export type Write<E extends Endpoint, P = undefined> = Call<E> & {
  readonly tx: Tx
  readonly prepared: P
}
/**
 * A call that reaches a third party runs in no transaction. Repeated under its Idempotency-Key it
 * has the same `actionId`, and acts once.
 */
export type Act<E extends Endpoint> = Call<E> & { readonly actionId: string }

/** A page of a keyset-paginated list. */
export class Page<R> {
  readonly result: R
  readonly next: string | null
  constructor(result: R, next: string | null) {
    this.result = result
    this.next = next
  }
}

/** A document to keep, sent as it is made and never held in memory. */
export interface FileAnswer {
  /** ASCII. */
  readonly name: string
  readonly type: string
  readonly chunks: AsyncIterable<string | Buffer>
  /** Length in bytes, where it is known beforehand. */
  readonly bytes?: number
  /** The chunks are the JSON of `result`. */
  readonly enveloped?: boolean
  /**
   * Present where a part may be asked for: which bytes the chunks are, null for all of them. RFC
   * 9110, 14.
   */
  readonly part?: { readonly start: number; readonly end: number; readonly total: number } | null
}

export type Answer<E extends Endpoint> = E['paged'] extends true
  ? Page<Input<E['result']>>
  : Input<E['result']>
