/** The draft of the next version. It stays in this tab until it is published or discarded. */
import { useState } from 'react'
import * as z from 'zod/mini'
import { Selling, type SoldDataCentre, type SoldPlan } from '../../../contract/operator-catalog.ts'

const Draft = z.object({ base: z.int(), selling: Selling })
export type Draft = z.output<typeof Draft>
const storedAs = 'desk-catalogue-draft'

export function storedDraft(): Draft | undefined {
  try {
    const text = sessionStorage.getItem(storedAs)
    return text === null ? undefined : Draft.safeParse(JSON.parse(text)).data
  } catch {
    // Storage is blocked or damaged, so there is no draft.
    return undefined
  }
}
function keep(draft: Draft): void {
  try {
    sessionStorage.setItem(storedAs, JSON.stringify(draft))
  } catch {
    // Without storage the draft lasts as long as the page.
  }
}
export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(storedAs)
  } catch {
    // Storage is blocked, so there is no stored draft to remove.
  }
}

/** The list with one plan or data centre changed, found by its index. */
const changed = <T>(list: readonly T[], at: number, to: Partial<T>): T[] =>
  list.map((one, index) => (index === at ? { ...one, ...to } : one))

export function useDraft(initial: Draft) {
  const [draft, setDraft] = useState(() => storedDraft() ?? initial)
  const put = (selling: Selling) => {
    const next = { ...draft, selling }
    setDraft(next)
    keep(next)
  }
  const { selling } = draft
  return {
    draft,
    changePlan: (at: number, to: Partial<SoldPlan>) =>
      put({ ...selling, plans: changed(selling.plans, at, to) }),
    addPlan: (plan: SoldPlan) => put({ ...selling, plans: [...selling.plans, plan] }),
    removePlan: (at: number) =>
      put({ ...selling, plans: selling.plans.filter((_, index) => index !== at) }),
    changeDisks: (disks: Selling['disks']) => put({ ...selling, disks }),
    changeCentre: (at: number, to: Partial<SoldDataCentre>) =>
      put({ ...selling, dataCentres: changed(selling.dataCentres, at, to) }),
    addCentre: () =>
      put({
        ...selling,
        dataCentres: [
          ...selling.dataCentres,
          { id: null, name: '', country: '', minDiskGb: '10', sold: true },
        ],
      }),
    removeCentre: (at: number) =>
      put({
        ...selling,
        dataCentres: selling.dataCentres.filter((_, index) => index !== at),
      }),
  }
}
