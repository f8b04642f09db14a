/**
 * Acts that bring customers over from another panel (decision 157). Their balances are money that
 * the file names and nobody has paid here, so they count as gifts do.
 */
import type { Currency } from '../../contract/money.ts'
import {
  askLetters,
  judgeUpload,
  lettersDue,
  startImport,
  type Judged,
  type Sum,
} from '../customer-import/index.ts'
import type { Tx } from '../platform/db.ts'
import type { ActNeeds, Actor, RegistryOf } from './acts.ts'
import type { Facts } from './canonical.ts'
import { givesTooMuch, type Gift } from './second-member.ts'

/** Letters that a member may have sent to customers of an import alone, without a second one. */
const lettersAlone = 500

const giftsOf = (sums: readonly Sum[]): Gift[] =>
  sums.filter(({ amount }) => amount > 0n).map(({ currency, amount }) => ({ currency, amount }))

/** Whether balances of these sums need a second member. */
export const balancesNeedSecond = (
  tx: Tx,
  needs: ActNeeds,
  actor: Actor,
  { sums }: Pick<Judged, 'sums'>,
): Promise<boolean> => givesTooMuch(tx, needs, actor, giftsOf(sums))

/** Minor units by currency; what `givesTooMuch` adds up later. */
const amounts = (sums: readonly Sum[]): Facts =>
  Object.fromEntries(
    giftsOf(sums).map(({ currency, amount }): [Currency, number] => [currency, Number(amount)]),
  )

export const importActs: RegistryOf<'customers'> = {
  'customers.import': {
    async needsSecond(tx, needs, { upload, letters }, actor) {
      // Refuse before a second member is asked for something impossible.
      const judged = await judgeUpload(tx, needs.currencyOf, upload)
      if (letters === 'yes' && judged.fresh.length > lettersAlone) return true
      return await balancesNeedSecond(tx, needs, actor, judged)
    },
    async run(tx, needs, actor, { upload, letters }) {
      const { fresh, skipped, sums, fileName, sha256 } = await startImport(tx, needs, {
        id: upload,
        letters: letters === 'yes',
        by: actor.name,
      })
      return {
        subject: { kind: 'import', id: upload },
        before: null,
        after: {
          file: fileName,
          sha256,
          accounts: fresh.length,
          skipped: skipped.length,
          balances: amounts(sums),
          letters,
        },
      }
    },
  },
  'customers.invite': {
    async needsSecond(tx, needs, input) {
      return (await lettersDue(tx, needs.clock, input.import)) > lettersAlone
    },
    async run(tx, needs, _actor, input) {
      const letters = await askLetters(tx, needs, input.import)
      return {
        subject: { kind: 'import', id: input.import },
        before: null,
        after: { letters },
      }
    },
  },
}
