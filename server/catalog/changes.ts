/** The differences between two catalogues, line by line, and whether a price changes by much. */
import { currencies, toMinor, type Currency } from '../../contract/money.ts'
import type { Selling, SellingChange, SoldPlan } from '../../contract/operator-catalog.ts'

/** A price may change by one part in this many without approval. */
const aloneParts = 5

type Fields = ReadonlyMap<string, { readonly currency: Currency | null; readonly value: string }>
type Of = SellingChange['of']

const plain = (value: string) => ({ currency: null, value })

function fieldsOfPlan(plan: SoldPlan): Fields {
  const found: [string, { currency: Currency | null; value: string }][] = [
    ['name', plain(plan.name)],
    ['cpu', plain(plan.cpu)],
    ['ram', plain(plan.ram)],
    ['mailAnHour', plain(plan.mailAnHour)],
    ['mirrored', plain(String(plan.mirrored))],
    ['sold', plain(String(plan.sold))],
  ]
  for (const code of currencies) {
    const { price, sale } = plan.prices[code]
    found.push([`price ${code}`, { currency: code, value: price }])
    if (sale !== '') found.push([`sale ${code}`, { currency: code, value: sale }])
  }
  return new Map(found)
}

function* compared(
  of: Of,
  name: string,
  before: Fields | undefined,
  after: Fields | undefined,
): Generator<SellingChange> {
  if (!before || !after)
    yield { of, name, field: after ? 'new' : 'gone', currency: null, before: null, after: null }
  for (const field of new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])) {
    const [was, is] = [before?.get(field), after?.get(field)]
    if (was?.value === is?.value || !after) continue
    // The name of a new item is in its heading already.
    if (!before && field === 'name') continue
    yield {
      of,
      name,
      field: field.split(' ')[0] ?? field,
      currency: is?.currency ?? was?.currency ?? null,
      before: was?.value ?? null,
      after: is?.value ?? null,
    }
  }
}

/** Both in the form of `sellingOf`. */
export function changesBetween(before: Selling, after: Selling): SellingChange[] {
  const changes: SellingChange[] = []
  const list = <T extends { readonly id: number | null; readonly name: string }>(
    of: Of,
    [was, is]: readonly [readonly T[], readonly T[]],
    fields: (one: T) => Fields,
  ): void => {
    for (const id of new Set([...is, ...was].map((one) => one.id))) {
      const [old, fresh] = [was, is].map((all) => all.find((one) => one.id === id))
      const name = (fresh ?? old)?.name ?? ''
      changes.push(...compared(of, name, old && fields(old), fresh && fields(fresh)))
    }
  }
  list('plan', [before.plans, after.plans], fieldsOfPlan)
  for (const disk of ['ssdPerGb', 'mariadbPerGb'] as const) {
    const fields = ({ disks }: Selling): Fields =>
      new Map(
        currencies.map((code) => [`price ${code}`, { currency: code, value: disks[disk][code] }]),
      )
    changes.push(...compared('disk', disk, fields(before), fields(after)))
  }
  list('dataCentre', [before.dataCentres, after.dataCentres], (centre) => {
    const { name, country, minDiskGb, sold } = centre
    const shown = { name, country, minDiskGb, sold: String(sold) }
    return new Map(Object.entries(shown).map(([field, value]) => [field, plain(value)]))
  })
  return changes
}

/** One change as a line of text, for the trail and the shell. */
export function sayChange({ of, name, field, currency, before, after }: SellingChange): string {
  const what = { plan: name, disk: name, dataCentre: `data centre ${name}` }[of]
  if (field === 'new' || field === 'gone') return `${what}: ${field}`
  const unit = currency === null ? '' : ` ${currency}`
  return `${what} ${field}${unit}: ${before ?? 'none'} → ${after ?? 'none'}`
}

/** The asked price, minor units: the sale price if there is one. */
function asked({ price, sale }: { price: string; sale: string }, code: Currency): number {
  return toMinor(sale === '' ? price : sale, code) ?? 0
}
const isMuch = (before: number, after: number): boolean =>
  Math.abs(after - before) * aloneParts > before

/**
 * Whether a price changes by more than a fifth, up or down, or a plan is new: a typing error in its
 * price cannot be detected by comparison.
 */
export function changesMuch(before: Selling, after: Selling): boolean {
  return currencies.some((code) => {
    const ofPlans = after.plans.some(({ id, prices }) => {
      const old = before.plans.find((plan) => plan.id === id)
      return old === undefined || isMuch(asked(old.prices[code], code), asked(prices[code], code))
    })
    const ofDisks = (['ssdPerGb', 'mariadbPerGb'] as const).some((disk) =>
      isMuch(
        toMinor(before.disks[disk][code], code) ?? 0,
        toMinor(after.disks[disk][code], code) ?? 0,
      ),
    )
    return ofPlans || ofDisks
  })
}
