/** The effect of approving a proposal, for the member who decides. */
import type * as z from 'zod/mini'
import { errorText, type Language } from '../../contract/errors.ts'
import type { ActName } from '../../contract/operator-acts.ts'
import type { previewProposal } from '../../contract/operator-desk.ts'
import { transaction, type Database } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { StaffCaller } from '../platform/http.ts'
import type { ActNeeds } from './acts.ts'
import { carryOut } from './perform.ts'
import { approvable } from './proposals.ts'

type Foreseen = z.output<typeof previewProposal.result>

/** Thrown to roll back the trial transaction, together with the letters and jobs in it. */
class RolledBack extends Error {}

/** Refuses with not_found, forbidden or conflict when the caller cannot approve the proposal. */
export async function foresee(
  needs: ActNeeds & { readonly db: Database },
  staff: StaffCaller,
  { language, ...of }: { readonly id: string; readonly address: string; language: Language },
): Promise<Foreseen> {
  let found: Foreseen | undefined
  try {
    await transaction(needs.db, async (tx) => {
      const { row, actor } = await approvable(tx, needs, staff, of)
      found = await tried(() =>
        carryOut(tx, needs, actor, {
          name: row.act as ActName,
          input: row.input as never,
          reason: row.reason,
          key: null,
        }),
      )
      throw new RolledBack()
    })
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
  }
  if (!found) throw new Refusal('not_found')
  return found

  async function tried(run: () => ReturnType<typeof carryOut>): Promise<Foreseen> {
    try {
      const { before, after } = await run()
      return { before, after, refused: null }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const why = Object.values(error.fieldsIn(language) ?? {})
      const refused = why.length > 0 ? why.join(' ') : errorText(error.code, language)
      return { before: null, after: null, refused }
    }
  }
}
