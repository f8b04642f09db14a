/** Acts on what is sold: published, and taken back before it counts (decision 126). */
import { createHash } from 'node:crypto'
import {
  changesBetween,
  needsApproval,
  preparePublication,
  publishCatalog,
  sayChange,
  sellingOf,
  withdrawPublication,
} from '../catalog/index.ts'
import { onCommit } from '../platform/db.ts'
import type { RegistryOf } from './acts.ts'
import { canonical } from './canonical.ts'

const sha256Of = (value: unknown): string =>
  createHash('sha256').update(canonical(value)).digest('hex')

export const catalogActs: RegistryOf<'catalog'> = {
  'catalog.publish': {
    // What changed stands in what the act answers; all that is sold would be the whole catalogue.
    kept: ({ selling, ...rest }) => ({ ...rest, ...(selling && { sha256: sha256Of(selling) }) }),
    async needsSecond(tx, { clock }, input) {
      return await needsApproval(tx, clock, await preparePublication(tx, clock, input))
    },
    async run(tx, { clock, followCatalog }, actor, input, reason) {
      const publisher = {
        staffId: actor.staffId,
        name: actor.name,
        approvedBy: actor.approvedBy?.name ?? null,
      }
      const done = await publishCatalog(tx, clock, publisher, { wanted: input, reason })
      if (done.version !== null) onCommit(tx, followCatalog)
      const changes = changesBetween(sellingOf(done.before), sellingOf(done.after))
      return {
        subject: { kind: 'catalog', id: done.id },
        before: { version: done.base },
        after: {
          version: done.version,
          countsAt: done.countsAt.toISOString(),
          restores: input.restores ?? null,
          changes: changes.map(sayChange),
        },
      }
    },
  },
  'catalog.withdraw': {
    async run(tx, { clock }, _actor, { publication }) {
      const { base, countsAt } = await withdrawPublication(tx, clock, publication)
      return {
        subject: { kind: 'catalog', id: publication },
        before: { base, countsAt: countsAt.toISOString(), waits: true },
        after: { waits: false },
      }
    },
  },
}
