/**
 * Passkeys (W3C, Web Authentication): made and used with the user verified, so that one is both
 * factors. The authenticator signs the portal's host and a challenge of ours, which counts once.
 */
import { randomUUID } from 'node:crypto'
import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Passkey } from '../../contract/second-factor.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { makeChallenge, takeChallenge } from './challenges.ts'
import type { AuthNeeds } from './needs.ts'

const maxPasskeys = 20
/** EdDSA, ES256 and RS256 (COSE): the algorithms of common authenticators. */
const algorithms = [-8, -7, -257]
/** Loaded on first use: it is large, and most customers have no passkey. */
const library = () => import('@simplewebauthn/server')

/** A verified signature; it was verified outside a transaction. */
export interface ProvenPasskey {
  readonly id: string
  readonly customerId: string
  readonly counter: bigint
  readonly newCounter: bigint
}
type Json = Record<string, unknown>
interface Asked {
  readonly challenge: string
  readonly options: Json
}

export interface Passkeys {
  /** The origin at which passkeys work; null: passkeys are not available. */
  readonly origin: string | null
  list(db: Queryable, customerId: string): Promise<Passkey[]>
  /** Refuses with method_unavailable. */
  begin(): Promise<Asked>
  /** Verifies a signature. Refuses with passkey_refused. */
  prove(challenge: string, response: Json): Promise<ProvenPasskey>
  /** Records a use. Refuses with passkey_refused if the counter has changed meanwhile. */
  use(tx: Tx, proven: ProvenPasskey): Promise<void>
  /** Refuses with method_unavailable, and with conflict at twenty passkeys. */
  beginNew(tx: Tx, customerId: string): Promise<Asked>
  /** Verifies a new passkey. Refuses with passkey_refused. */
  proveNew(customerId: string, challenge: string, response: Json): Promise<NewPasskey>
  add(tx: Tx, customerId: string, made: NewPasskey, name: string): Promise<void>
  /** Refuses with not_found. */
  remove(tx: Tx, customerId: string, id: string): Promise<void>
}
interface NewPasskey {
  readonly credentialId: string
  readonly publicKey: Uint8Array
  readonly counter: number
  readonly transports: string[]
}

/** A passkey belongs to a host name, never to an address (Web Authentication, 5.1.2). */
function relyingPartyOf(portalUrl: string): { id: string; origin: string } | undefined {
  const { hostname, origin } = new URL(portalUrl)
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { id: hostname, origin } : undefined
}

export function createPasskeys(needs: AuthNeeds): Passkeys {
  const { db, clock, log } = needs
  const party = relyingPartyOf(needs.portalUrl)
  const known = () => {
    if (!party) throw new Refusal('method_unavailable')
    return party
  }
  const refused = (why: unknown): Refusal => {
    log.info({ event: 'passkey_refused', why: String(why) }, 'a passkey was refused')
    return new Refusal('passkey_refused')
  }

  return {
    origin: party?.origin ?? null,

    async list(from, customerId) {
      const rows = await from
        .selectFrom('passkey')
        .select(['id', 'name', 'created_at', 'last_used_at'])
        .where('customer_id', '=', customerId)
        .orderBy('created_at')
        .execute()
      return rows.map((row) => ({
        id: row.id,
        name: row.name,
        createdAt: row.created_at.toISOString(),
        lastUsedAt: row.last_used_at?.toISOString() ?? null,
      }))
    },

    async begin() {
      const { id } = known()
      // No list of credentials: the passkey itself names its customer, and the answer does not
      // reveal who has an account.
      const options = await (
        await library()
      ).generateAuthenticationOptions({
        rpID: id,
        userVerification: 'required',
      })
      const webauthn = options.challenge
      const challenge = await makeChallenge(db, clock, { purpose: 'passkey', webauthn })
      return { challenge, options: options as unknown as Json }
    },

    async prove(challenge, response) {
      const { id: rpID, origin } = known()
      // The first try uses it up, whatever its result.
      const waiting = await takeChallenge(db, clock, challenge, 'passkey')
      if (!waiting?.webauthn) throw refused('no such challenge')
      const row = await db
        .selectFrom('passkey')
        .selectAll()
        .where('credential_id', '=', String(response['id']))
        .executeTakeFirst()
      if (!row) throw refused('unknown credential')
      const judged = await (
        await library()
      )
        .verifyAuthenticationResponse({
          response: response as unknown as AuthenticationResponseJSON,
          expectedChallenge: waiting.webauthn,
          expectedOrigin: origin,
          expectedRPID: rpID,
          credential: {
            id: row.credential_id,
            publicKey: new Uint8Array(row.public_key),
            // The library refuses a counter that does not grow: a copy of the authenticator.
            counter: Number(row.counter),
          },
          requireUserVerification: true,
        })
        .catch((error: unknown) => {
          throw refused(error)
        })
      if (!judged.verified) throw refused('signature')
      return {
        id: row.id,
        customerId: row.customer_id,
        counter: row.counter,
        newCounter: BigInt(judged.authenticationInfo.newCounter),
      }
    },

    async use(tx, { id, counter, newCounter }) {
      const used = await tx
        .updateTable('passkey')
        .set({ counter: newCounter, last_used_at: clock.now() })
        .where('id', '=', id)
        .where('counter', '=', counter)
        .returning('id')
        .executeTakeFirst()
      if (!used) throw refused('the counter moved meanwhile')
    },

    async beginNew(tx, customerId) {
      const { id: rpID } = known()
      const { email, name } = await tx
        .selectFrom('customer')
        .select(['email', 'name'])
        .where('id', '=', customerId)
        .executeTakeFirstOrThrow()
      const present = await tx
        .selectFrom('passkey')
        .select('credential_id')
        .where('customer_id', '=', customerId)
        .execute()
      if (present.length >= maxPasskeys) throw new Refusal('conflict')
      const options = await (
        await library()
      ).generateRegistrationOptions({
        rpName: needs.brandName,
        rpID,
        userName: email,
        userDisplayName: name,
        userID: new Uint8Array(Buffer.from(customerId.replaceAll('-', ''), 'hex')),
        attestationType: 'none',
        excludeCredentials: present.map(({ credential_id: id }) => ({ id })),
        supportedAlgorithmIDs: algorithms,
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      })
      const challenge = await makeChallenge(tx, clock, {
        purpose: 'new_passkey',
        customerId,
        webauthn: options.challenge,
      })
      return { challenge, options: options as unknown as Json }
    },

    async proveNew(customerId, challenge, response) {
      const { id: rpID, origin } = known()
      const waiting = await takeChallenge(db, clock, challenge, 'new_passkey')
      if (!waiting?.webauthn || waiting.customer_id !== customerId)
        throw refused('no such challenge')
      const judged = await (
        await library()
      )
        .verifyRegistrationResponse({
          response: response as unknown as RegistrationResponseJSON,
          expectedChallenge: waiting.webauthn,
          expectedOrigin: origin,
          expectedRPID: rpID,
          supportedAlgorithmIDs: algorithms,
          requireUserVerification: true,
        })
        .catch((error: unknown) => {
          throw refused(error)
        })
      if (!judged.verified) throw refused('attestation')
      const { credential } = judged.registrationInfo
      return {
        credentialId: credential.id,
        publicKey: credential.publicKey,
        counter: credential.counter,
        transports: credential.transports ?? [],
      }
    },

    async add(tx, customerId, made, name) {
      const added = await tx
        .insertInto('passkey')
        .values({
          id: randomUUID(),
          customer_id: customerId,
          credential_id: made.credentialId,
          public_key: Buffer.from(made.publicKey),
          counter: BigInt(made.counter),
          transports: made.transports,
          name,
          created_at: clock.now(),
        })
        .onConflict((conflict) => conflict.column('credential_id').doNothing())
        .returning('id')
        .executeTakeFirst()
      if (!added) throw refused('known credential')
    },

    async remove(tx, customerId, id) {
      const gone = isUuid(id)
        ? await tx
            .deleteFrom('passkey')
            .where('id', '=', id)
            .where('customer_id', '=', customerId)
            .returning('id')
            .executeTakeFirst()
        : undefined
      if (!gone) throw new Refusal('not_found')
    },
  }
}
