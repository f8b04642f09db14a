/** The preview of a file of customers: what importing it would do. */
import type * as z from 'zod/mini'
import type { Language } from '../../contract/errors.ts'
import type { ImportPreview } from '../../contract/operator-imports.ts'
import { judgeImport, keepUpload } from '../customer-import/index.ts'
import type { Tx } from '../platform/db.ts'
import type { ActNeeds, Actor } from './acts.ts'
import { balancesNeedSecond } from './import-acts.ts'

const shownFaults = 100
const shownSkipped = 50

/**
 * Creates no account and posts nothing. A file without a bad row is kept, so that the act imports
 * what was previewed. Refuses with invalid_input a file that cannot be read at all.
 */
export async function previewImport(
  tx: Tx,
  needs: ActNeeds,
  actor: Actor,
  of: { readonly fileName: string; readonly file: string; readonly language: Language },
): Promise<z.input<typeof ImportPreview>> {
  const judged = await judgeImport(tx, needs.currencyOf, of.file)
  const { total, fresh, skipped, faults, sums, ignored } = judged
  const isGood = faults.length === 0 && fresh.length > 0
  return {
    upload: isGood
      ? await keepUpload(tx, needs.clock, { ...of, rows: total, fresh, by: actor.name })
      : null,
    rows: total,
    accounts: fresh.length,
    skipped: skipped.length,
    skippedRows: skipped
      .slice(0, shownSkipped)
      .map(({ line, email, why }) => ({ line, email, text: why[of.language] })),
    sums: sums.map((sum) => ({ ...sum, amount: Number(sum.amount) })),
    withoutPhone: fresh.filter(({ phone }) => phone === null).length,
    ignored: [...ignored],
    faults: faults
      .slice(0, shownFaults)
      .map(({ line, text }) => ({ line, text: text[of.language] })),
    badRows: faults.length,
    needsSecond: await balancesNeedSecond(tx, needs, actor, judged),
  }
}
