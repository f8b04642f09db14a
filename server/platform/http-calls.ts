/** The input of a module's handler, and the types of its answer. */
import type { Endpoint, Input, Language, Output } from '../../contract/index.ts'
import type { MemberRole } from '../../contract/member-roles.ts'
import type { TokenRights } from '../../contract/token-scopes.ts'
import type { Tx } from './db.ts'
import type { StaffCaller } from './http-staff.ts'

/** A member at work in another customer's account (decision 107). */
export interface MemberAtWork {
  readonly memberId: string
  /** Ends with the person's own session. */
  readonly actingId: string
  /** The person's own account. */
  readonly personId: string
  readonly name: string
  readonly role: MemberRole
}

/** The caller, as identified by the auth module. */
export interface Caller {
  /** The customer whose account the call is about. */
  readonly customerId: string
  /**
   * For a program: the id of its token. For a view: the view's id. For a member: the id of the
   * person's own session.
   */
  readonly sessionId: string
  /** The session is locked: only endpoints that say so are open to it. */
  readonly locked: boolean
  /**
   * The credential of the call: the session's bearer token, its cookie, a program's token, the
   * token of a staff member's view, or that of a member who works in the account.
   */
  readonly heldBy: 'token' | 'cookie' | 'program' | 'view' | 'member'
  /** The rights of a program's token; undefined for any other caller. */
  readonly rights?: TokenRights
  /** The servers and domains that a program or a member sees; null: all. */
  readonly limits?: {
    readonly servers: readonly string[] | null
    readonly domains: readonly string[] | null
  }
  /** The member who acts for the customer; undefined for the customer in person. */
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

/** The view of a staff member who sees the portal as a customer does. */
export interface Viewer {
  readonly id: string
  readonly customerId: string
}

/** The credential that identifies the caller. */
export type Credential = { readonly token: string } | { readonly cookie: string }

/** A cookie of the caller's browser that no script can read. */
export interface Held {
  /** The cookie that the browser sent, valid or not; undefined without one. */
  readonly cookie: string | undefined
  /**
   * Sets the cookie with the call's answer: for this many seconds, or until the browser is closed.
   * With a sign-in or second factor of a customer also when its answer is given again; a repeated
   * unlock or change of password is refused, for what it was called with has ended (decision 158).
   */
  keep(cookie: string, maxAgeSeconds?: number): void
  drop(): void
}

/** The origin of a call. */
export interface Origin {
  readonly ip: string
  /** The address as limits count it: an IPv4 address, or the /64 of an IPv6 address. */
  readonly network: string
  /** The browser's name from its cookie; a new name if it has none. It grants no access. */
  readonly browser: string
  /** At most 300 characters; empty if the header is missing. */
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
  /** Sets the cookie that keeps the name in `from.browser`, for 90 days. */
  readonly keepBrowser: () => void
  /** The session. */
  readonly held: Held
  /** The cookie of a device that is not asked for the second factor. */
  readonly device: Held
  /** The signed-in member of the staff; undefined for all other calls. */
  readonly staff: StaffCaller | undefined
  /** The session of a member of the staff. */
  readonly staffHeld: Held
}
/** A call of which only the caller is known yet. */
export type From = Omit<Call<Endpoint>, 'params' | 'query' | 'body'> & {
  /** What the answer of a write sets beside its body: cookies, and their CSRF token. */
  readonly answerHeaders: [name: string, value: string][]
}
/**
 * POST, PUT and DELETE run in one transaction, together with the response that is stored for their
 * Idempotency-Key. `prepared`: the result of the step before the transaction.
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

/** An endpoint whose body is a file, or a piece of one. */
export type Uploading = Endpoint & { readonly takesBytes: true; readonly maxUploadBytes: number }

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
