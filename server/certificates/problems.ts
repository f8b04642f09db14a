/** Why a certificate was not issued, and when it is tried again. */
import type { CertificateProblem } from '../../contract/certificates.ts'
import { hours, minutes } from '../platform/clock.ts'
import { DriverFailure } from '../platform/errors.ts'
import { AcmeProblem } from './acme/client.ts'

/** Ends a try; the message is stored with the name, and shown. */
export class NotIssued extends Error {
  readonly code: CertificateProblem
  /** How long the authority asks to wait, ms. */
  readonly waitMs: number | undefined
  constructor(code: CertificateProblem, detail: string, waitMs?: number) {
    super(detail)
    this.name = 'NotIssued'
    this.code = code
    this.waitMs = waitMs
  }
}

/** The customer's share is used up: the name waits, and has no fault. */
export class ShareUsedUp extends Error {}

/** An authority's findings when it validates a name (RFC 8555, 6.7). */
const whenLooking: Readonly<Record<string, CertificateProblem>> = {
  dns: 'dns',
  connection: 'connection',
  tls: 'connection',
  unauthorized: 'unauthorized',
  incorrectResponse: 'unauthorized',
  caa: 'caa',
  rejectedIdentifier: 'refused',
  unsupportedIdentifier: 'refused',
}
/** An authority's refusals of a call. */
const whenAsked: Readonly<Record<string, CertificateProblem>> = {
  caa: 'caa',
  rateLimited: 'rate_limited',
  rejectedIdentifier: 'refused',
  unsupportedIdentifier: 'refused',
  accountDoesNotExist: 'account',
  externalAccountRequired: 'account',
  unauthorized: 'account',
  userActionRequired: 'account',
  badPublicKey: 'account',
  serverInternal: 'unavailable',
}

const prefix = 'urn:ietf:params:acme:error:'
/** `error`: from an invalid authorization. */
export const foundWhenLooking = (error: { type: string; detail: string } | undefined): NotIssued =>
  new NotIssued(
    whenLooking[(error?.type ?? '').replace(prefix, '')] ?? 'unauthorized',
    error?.detail ?? 'the authority does not say why',
  )

/**
 * Converts a failed call to the stored problem; rethrows anything but a refusal or an outage,
 * because it is a bug.
 */
export function toldOnCall(error: unknown): NotIssued {
  if (error instanceof NotIssued) return error
  if (error instanceof AcmeProblem)
    return new NotIssued(
      whenAsked[error.type] ?? (error.status === 429 ? 'rate_limited' : 'refused'),
      error.message,
      error.waitMs,
    )
  if (error instanceof DriverFailure) return new NotIssued('unavailable', error.message)
  throw error
}

/** Whether another authority may issue it: the name itself is not at fault. */
export const mayOtherIssue = ({ code }: NotIssued): boolean =>
  ['caa', 'rate_limited', 'refused', 'unavailable', 'account'].includes(code)

/** The first wait, the factor, and the longest wait for each kind. */
const waits: Readonly<Record<CertificateProblem, readonly [number, number, number]>> = {
  // Let's Encrypt allows five failed validations of a name per hour.
  not_pointed: [minutes(10), 2, hours(12)],
  dns: [minutes(15), 2, hours(12)],
  connection: [minutes(15), 2, hours(12)],
  unauthorized: [minutes(15), 2, hours(12)],
  caa: [minutes(30), 2, hours(12)],
  refused: [hours(1), 2, hours(24)],
  rate_limited: [hours(1), 2, hours(24)],
  unavailable: [minutes(1), 2, hours(1)],
  account: [minutes(15), 2, hours(6)],
  zone_elsewhere: [minutes(10), 2, hours(6)],
}

/**
 * How long to wait before the next try, ms: longer after each consecutive failure, never shorter
 * than the authority asks, and with a random offset, so that names that failed together do not
 * return together. `attempts`: consecutive failures, including this one.
 */
export function waitAfter(problem: NotIssued, attempts: number, random = Math.random()): number {
  const [first, factor, longest] = waits[problem.code]
  const own = Math.min(longest, first * factor ** Math.min(20, attempts - 1))
  return Math.max(own * (0.9 + 0.2 * random), problem.waitMs ?? 0)
}
