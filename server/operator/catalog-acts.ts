/**
 * Acts on the catalogue: publishing it, withdrawing that before it takes effect (decision 126), and
 * publishing by a file from the shell (decision 141).
 */
import { createHash } from 'node:crypto'
import {
  changesBetween,
  needsApproval,
  preparePublication,
  prepareUse,
  publishCatalog,
  sayChange,
  sellingOf,
  bringIntoUse,
  withdrawPublication,
  type IsApprovedUse,
} from '../catalog/index.ts'
import { rolesThatMay } from '../../contract/staff-roles.ts'
import { onCommit, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { emailsOf } from '../staff/index.ts'
import type { Actor, RegistryOf } from './acts.ts'
import { canonical } from './canonical.ts'

const sha256Of = (value: unknown): string =>
  createHash('sha256').update(canonical(value)).digest('hex')

/** The file comes from the machine and contains more than the desk's offer. */
function refuseAtDesk({ staffId }: Actor): void {
  if (staffId !== null) throw new Refusal('forbidden')
}

/** The versions that `catalog.use` made with a second member. */
export const approvedUses =
  (db: Queryable): IsApprovedUse =>
  async (version) => {
    const row = await db
      .selectFrom('operator_act')
      .select('seq')
      .where('act', '=', 'catalog.use')
      .where('subject_id', '=', String(version))
      .where('approved_by', 'is not', null)
      .executeTakeFirst()
    return row !== undefined
  }

export const catalogActs: RegistryOf<'catalog'> = {
  'catalog.publish': {
    // The act's answer contains the changes; keeping the whole offer would repeat the whole
    // catalogue.
    kept: ({ selling, ...rest }) => ({ ...rest, ...(selling && { sha256: sha256Of(selling) }) }),
    async needsSecond(tx, { clock }, input) {
      return await needsApproval(
        tx,
        clock,
        await preparePublication(tx, clock, input),
        approvedUses(tx),
      )
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
  'catalog.use': {
    // A repeat with the same key returns the catalogue that is then in use.
    kept: ({ file, origin }) => ({ origin, sha256: sha256Of(file) }),
    async needsSecond(tx, { clock }, { file, ...of }, actor) {
      refuseAtDesk(actor)
      const { present, before, after } = await prepareUse(tx, clock, { ...of, text: file })
      // The first catalogue has no predecessor to differ from. If this release cannot read the
      // present one, the portal does not start, and nobody could approve.
      if (present === undefined || before === undefined) return false
      const approvers = await emailsOf(tx, rolesThatMay.sell)
      if (approvers.length === 0) return false
      return await needsApproval(tx, clock, { present, after }, approvedUses(tx))
    },
    async run(tx, { clock, followCatalog }, actor, { file, ...of }) {
      refuseAtDesk(actor)
      const { version, judged } = await bringIntoUse(tx, clock, { ...of, text: file })
      onCommit(tx, followCatalog)
      const { present, before, after } = judged
      const changes = before ? changesBetween(sellingOf(before), sellingOf(after)) : []
      return {
        subject: { kind: 'catalog', id: String(version) },
        before: { version: present?.version ?? null },
        after: { version, origin: of.origin, changes: changes.map(sayChange) },
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
