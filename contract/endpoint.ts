/**
 * The form of one call. The server, the web client and the OpenAPI document are all made from these
 * objects.
 */
import * as z from 'zod/mini'
import type { MemberPermission } from './member-roles.ts'
import type { StaffPermission } from './staff-roles.ts'
import type { TokenScope } from './token-scopes.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface Endpoint {
  readonly method: Method
  /** With `:name` for each path parameter. */
  readonly path: string
  /**
   * Who may call: anybody, a signed-in customer (bearer token, or cookie and CSRF token), or a
   * signed-in member of the operator's staff (a cookie of another name, and its CSRF token).
   */
  readonly access: 'public' | 'customer' | 'staff'
  /** With `staff`: what the member's role must allow. */
  readonly may?: StaffPermission
  /**
   * With `customer`: the scope that opens the call to a token for programs. Without it the call is
   * closed to tokens.
   */
  readonly scope?: TokenScope
  /**
   * True for a call without an id that works for a limited token or member: it shows only what they
   * are limited to, or finds nothing else, or it names no server or domain at all.
   */
  readonly narrows?: true
  /**
   * True for a read that is also open to a member of the operator's staff who sees the portal as a
   * customer does, and for the call that ends such a view (decision 104). Every other call is
   * closed to a view.
   */
  readonly seen?: true
  /**
   * With `customer`: the permission that somebody who works in this account for its owner needs for
   * the call (decision 107). Without it the call is closed to all of them.
   */
  readonly member?: MemberPermission
  /** True for a public call whose answer depends on who is signed in. */
  readonly identifies?: true
  /** True for a public call that also works while the portal is closed for maintenance. */
  readonly whileClosed?: true
  /** One line for the API documentation. */
  readonly summary: string
  readonly params?: z.ZodMiniType
  readonly query?: z.ZodMiniType
  readonly body?: z.ZodMiniType
  /** Longest body in bytes, where it may exceed the limit of every call (256 KiB). */
  readonly maxBodyBytes?: number
  /** The form of `result` in a success. */
  readonly result: z.ZodMiniType
  /** 201 for a call that creates something; 200 when absent. */
  readonly status?: 200 | 201
  /**
   * True for keyset-paginated lists: `page.next` stands beside `result`, and `limit` and `cursor`
   * are accepted.
   */
  readonly paged?: true
  /** True where another protocol prescribes the answer: a success has no envelope. */
  readonly bare?: true
  /** True for a call that a locked session may still make. */
  readonly whileLocked?: true
  /**
   * True for a call that asks a customer with a second factor for it again, unless that was within
   * ten minutes: 403 reauthentication_required.
   */
  readonly asksAgain?: true
  /**
   * True for the one call that Pusher's libraries send as a form; every other call takes only JSON.
   */
  readonly takesForms?: true
  /**
   * True for a call whose answer signs in to the desk: a success is not kept under an
   * Idempotency-Key, and a repeat is done anew.
   */
  readonly unkept?: true
  /**
   * True for a call whose body is a file or a piece of one (application/octet-stream). A page of
   * another site cannot send this type without a CORS preflight.
   */
  readonly takesBytes?: true
  /** With `takesBytes`: the longest body that the call takes, bytes. */
  readonly maxUploadBytes?: number
  /**
   * Media types that this call also answers with (with `bare`: only these): a file to download, of
   * any length.
   */
  readonly files?: readonly string[]
}

/** Keeps the literal types of one call. */
export const endpoint = <const E extends Endpoint>(e: E): E => e

export type Output<S> = S extends z.ZodMiniType ? z.output<S> : undefined
export type Input<S> = S extends z.ZodMiniType ? z.input<S> : undefined

/** The envelope of a success. */
export interface Success<R> {
  statusCode: number
  message: 'success'
  result: R
  page?: { next: string | null }
}

/** The envelope of a failure. */
export interface Failure {
  statusCode: number
  /** A sentence for the customer, in the language that was asked for. */
  message: string
  error: {
    code: string
    fields?: Record<string, string>
    /**
     * With second_factor_required: the challenge that the call with the second factor must name.
     */
    challenge?: string
    requestId: string
  }
}

/** `?limit=` and `?cursor=` of every list. */
export const pageQuery = {
  limit: z.optional(z.coerce.number().check(z.int(), z.gte(1), z.lte(100))),
  cursor: z.optional(z.string().check(z.maxLength(200))),
}

/**
 * A path parameter. Its form is not checked here: an id that is not the customer's answers 404,
 * whatever its form.
 */
export const idParam = z.object({ id: z.string().check(z.maxLength(100)) })
