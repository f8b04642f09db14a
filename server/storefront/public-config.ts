/**
 * The front end's configuration before a sign-in: flags, regions, payment types that have a
 * gateway, and the realtime server's address.
 */
import type * as z from 'zod/mini'
import { regionCodes } from '../../contract/money.ts'
import type { Config as PublicConfig } from '../../contract/system.ts'
import type { Catalog } from '../catalog/index.ts'
import { available, cardsOf, takesRegion, tokensOf, type PaymentDriver } from '../payments/index.ts'

type Offered = z.output<typeof PublicConfig>['wordpress']

export function publicConfig(of: {
  catalog: Catalog
  drivers: ReadonlyMap<string, PaymentDriver>
  portalUrl: string
  realtimeKey: string
  sandboxUrl: string | null
  wordpress: Omit<Offered, 'diskPerGb' | 'mariadbDiskPerGb'>
}): z.output<typeof PublicConfig> {
  const { catalog, drivers } = of
  const { reminderDays, suspendDays, deleteDays } = catalog.billing
  const cards = cardsOf(catalog, drivers)
  const tokens = tokensOf(catalog, drivers)
  const portal = new URL(of.portalUrl)
  const secure = portal.protocol === 'https:'
  return {
    products: catalog.products,
    regions: regionCodes.map((code) => {
      const { currency, language } = catalog.regions[code]
      return { code, currency, language }
    }),
    cards: {
      provider: catalog.payments.cards.gateway,
      publishableKey: cards?.publishableKey ?? '',
      scriptUrl: cards?.scriptUrl ?? '',
    },
    square: tokens ? { applicationId: tokens.applicationId, locationId: tokens.locationId } : null,
    realtime: {
      key: of.realtimeKey,
      wsHost: portal.hostname,
      wsPort: Number(portal.port) || (secure ? 443 : 80),
      forceTLS: secure,
      authEndpoint: '/api/v1/auth/pusher',
    },
    support: catalog.support,
    unpaid: { reminderDays, suspendDays, deleteDays },
    sandbox: of.sandboxUrl !== null,
    sandboxInbox: of.sandboxUrl === null ? null : `${of.sandboxUrl}/inbox`,
    payments: Object.fromEntries(
      regionCodes.map((code) => {
        const { presets, min, max } = catalog.payments.currencies[catalog.regions[code].currency]
        const types = available(catalog, drivers, code).flatMap(({ show, type, method }) =>
          show ? [{ id: show.id, name: { en: show.en, vi: show.vi }, type, method }] : [],
        )
        return [
          code,
          {
            presets,
            min,
            max,
            types: types.toSorted((a, b) => a.id - b.id),
            cards:
              cards !== undefined &&
              takesRegion(catalog, cards, catalog.payments.cards.regions, code),
          },
        ]
      }),
    ),
    wordpress: {
      ...of.wordpress,
      diskPerGb: catalog.disks.ssdPerGb,
      mariadbDiskPerGb: catalog.disks.mariadbPerGb,
    },
  }
}
