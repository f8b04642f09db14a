import { handOvers as api, type Language } from '../../contract/index.ts'
import type { Currency, RegionCode } from '../../contract/money.ts'
import { dayIn } from '../billing/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queryable, Tx } from '../platform/db.ts'
import type { Http } from '../platform/http.ts'
import type { Limits } from '../platform/limits.ts'
import type { EventOutbox } from '../realtime/index.ts'
import { quiet } from '../team/index.ts'
import { letterOfGiven, letterOfOffer, letterOfOffering, letterOfTaken } from './letters.ts'
import {
  acceptOffer,
  createOffer,
  listOffers,
  lookAtOffer,
  takeBack,
  type Person,
} from './offers.ts'

interface Customer {
  readonly id: string
  readonly name: string
  readonly company?: string
  readonly email: string
  readonly regionCode: RegionCode
  readonly language: Language
  readonly timeZone: string | null
}

export interface HandOverDeps {
  readonly db: Database
  readonly clock: Clock
  readonly portalUrl: string
  readonly brandName: string
  readonly limits: Limits
  readonly customer: (db: Queryable, id: string) => Promise<Customer>
  readonly currencyOf: (region: RegionCode) => Currency
  /** The zone of the days in a letter to this customer. */
  readonly zoneOf: (customer: Customer) => string
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  /** Refuses a wrong password, in the field that is named. */
  readonly prove: (
    customerId: string,
    password: string,
    field: 'password',
    language: Language,
  ) => Promise<unknown>
  /** Ends the account's live connections after the commit. */
  readonly endLiveOf: (tx: Tx, customerId: string) => Promise<void>
  readonly outbox: Pick<EventOutbox, 'publishEvents'>
}

/** An account's name in letters. */
const nameOf = ({ company, name }: Customer): string => company ?? name

export function routes(http: Http, deps: HandOverDeps): void {
  const { db, clock, portalUrl, brandName, limits } = deps
  const offered = limits.limit('hand-over')
  const offeredAddress = limits.limit('hand-over-address')
  const looks = limits.limit('hand-over-look')
  const personOf = async (tx: Tx, customerId: string): Promise<Customer & Person> => {
    const person = await deps.customer(tx, customerId)
    return { ...person, currency: deps.currencyOf(person.regionCode) }
  }

  http.read(api.listHandOvers, ({ customerId }) => listOffers(db, clock, customerId))
  http.write(
    api.offer,
    async ({ customerId, body, language }) => {
      await deps.prove(customerId, body.password, 'password', language)
      await offered.take(customerId)
    },
    async ({ tx, customerId, body }) => {
      const { password: _proven, ...wish } = body
      const { offer, token } = await createOffer(tx, clock, { customerId, wish })
      // After the checks: a refused offer sends no letter.
      await offeredAddress.take(body.email)
      const owner = await deps.customer(tx, customerId)
      const { subject, text } = letterOfOffer(
        {
          from: quiet(nameOf(owner)),
          brandName,
          kind: offer.kind,
          name: offer.name,
          // After #, so that no server's log contains it.
          link: `${portalUrl}/account/team#offer=${token}`,
        },
        owner.language,
      )
      await deps.mail(tx, offer.email, subject, text)
      const own = letterOfOffering({ ...offer, portalUrl }, owner.language)
      await deps.mail(tx, owner.email, own.subject, own.text)
      return offer
    },
  )
  http.write(api.takeBackOffer, async ({ tx, customerId, params }) => {
    await takeBack(tx, customerId, params.id)
    return null
  })
  http.write(
    api.lookAtOffer,
    ({ customerId }) => looks.take(customerId),
    async ({ tx, customerId, body }) => {
      const person = await personOf(tx, customerId)
      const { fromId, terms, expiresAt, ...shown } = await lookAtOffer(tx, clock, {
        token: body.token,
        person,
      })
      return {
        ...shown,
        from: nameOf(await deps.customer(tx, fromId)),
        expiresAt: expiresAt.toISOString(),
        monthly: terms && {
          price: Number(terms.price),
          currency: terms.currency,
          renewsAt: terms.renewsAt.toISOString(),
        },
      }
    },
  )
  http.write(
    api.acceptOffer,
    ({ customerId }) => looks.take(customerId),
    async ({ tx, customerId, body }) => {
      const person = await personOf(tx, customerId)
      const { fromId, terms, ...taken } = await acceptOffer(tx, clock, {
        ...body,
        person,
      })
      await deps.endLiveOf(tx, fromId)
      // By these the programs of both, and the operator's, learn whose it is.
      const payload = { hand_over: taken }
      await deps.outbox.publishEvents(tx, [
        { customerId: fromId, event: 'hand_over.given', payload },
        { customerId, event: 'hand_over.taken', payload },
      ])
      const owner = await deps.customer(tx, fromId)
      const toldTo = (reader: Customer) => ({
        ...taken,
        costs: terms && { ...terms, day: dayIn(deps.zoneOf(reader), terms.renewsAt) },
      })
      const given = letterOfGiven({ ...toldTo(owner), email: person.email }, owner.language)
      await deps.mail(tx, owner.email, given.subject, given.text)
      const took = letterOfTaken(toldTo(person), person.language)
      await deps.mail(tx, person.email, took.subject, took.text)
      return taken
    },
  )
}
