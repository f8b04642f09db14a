/**
 * The part of the catalogue that the desk edits: plans, prices, disks and data centres, as typed.
 * The schema of catalog.yaml validates it. It is written into the file's own text, so that comments
 * and all other content stay (decision 126).
 */
import { isMap, isSeq, parseDocument, type Document } from 'yaml'
import { fieldMessage, type Issue } from '../../contract/sentences.ts'
import { currencies, toMajor, type Currency } from '../../contract/money.ts'
import type { Selling, SoldDataCentre, SoldPlan } from '../../contract/operator-catalog.ts'
import type { Sentence } from '../platform/errors.ts'
import { CatalogFault, parseCatalog } from './load.ts'
import { CatalogFile, type Catalog } from './schema.ts'

const each = <T>(of: (code: Currency) => T): Record<Currency, T> =>
  Object.fromEntries(currencies.map((code) => [code, of(code)])) as Record<Currency, T>

/**
 * The editable part of a catalogue. Two catalogues with the same offer have the same text by
 * `textOfSelling`.
 */
export function sellingOf(catalog: Catalog): Selling {
  const rates = (rate: Record<Currency, number>) => each((code) => toMajor(rate[code], code))
  return {
    plans: catalog.plans.map(({ id, name, cpu, ram, mailAnHour, mirrored, sold, prices }) => ({
      id,
      name,
      cpu: String(cpu),
      ram: String(ram),
      mailAnHour: String(mailAnHour),
      mirrored,
      sold,
      prices: each((code) => {
        const { price, sale_price: sale } = prices[code]
        return { price: toMajor(price, code), sale: sale === 0 ? '' : toMajor(sale, code) }
      }),
    })),
    disks: {
      ssdPerGb: rates(catalog.disks.ssdPerGb),
      mariadbPerGb: rates(catalog.disks.mariadbPerGb),
    },
    dataCentres: catalog.dataCentres.map(({ id, name, country, minDiskGb, sold }) => ({
      id,
      name,
      country,
      minDiskGb: String(minDiskGb),
      sold,
    })),
  }
}
/** The text for comparisons. */
export const textOfSelling = (selling: Selling): string => JSON.stringify(selling)
export const sellsTheSame = (one: Catalog, other: Catalog): boolean =>
  textOfSelling(sellingOf(one)) === textOfSelling(sellingOf(other))

/** Items missing from `wanted` are kept and marked as not sold. */
export function keepingAll(present: Selling, wanted: Selling): Selling {
  const kept = <T extends { readonly id: number | null; readonly sold: boolean }>(
    were: readonly T[],
    are: readonly T[],
  ): T[] => [
    ...are,
    ...were
      .filter(({ id }) => are.every((one) => one.id !== id))
      .map((one) => ({ ...one, sold: false })),
  ]
  return {
    ...wanted,
    plans: kept(present.plans, wanted.plans),
    dataCentres: kept(present.dataCentres, wanted.dataCentres),
  }
}

/** Parses a typed number; other text is left for the schema to refuse. */
const number = (text: string): number | string =>
  /^\d{1,9}(\.\d{1,6})?$/.test(text.trim()) ? Number(text) : text
/** An amount in catalog.yaml's notation: a bare number if the currency has no decimals. */
const amount = (text: string, code: Currency): number | string =>
  code === 'VND' ? number(text) : text.trim()
const notSold = ({ sold }: { readonly sold: boolean }) => (sold ? {} : { sold: false })

/** Items in catalog.yaml's notation. */
const fileForm = {
  plan: (plan: SoldPlan) => ({
    id: plan.id,
    name: plan.name.trim(),
    cpu: number(plan.cpu),
    ram: number(plan.ram),
    mailAnHour: number(plan.mailAnHour),
    ...(plan.mirrored && { mirrored: true }),
    ...notSold(plan),
    prices: each((code) => {
      const { price, sale } = plan.prices[code]
      return {
        price: amount(price, code),
        ...(sale.trim() !== '' && { sale: amount(sale, code) }),
      }
    }),
  }),
  rates: (rates: Record<Currency, string>) => each((code) => amount(rates[code], code)),
  dataCentre: (centre: SoldDataCentre) => ({
    id: centre.id,
    name: centre.name.trim(),
    country: centre.country.trim(),
    minDiskGb: number(centre.minDiskGb),
    ...notSold(centre),
  }),
}
const fileFormOf = (selling: Selling) => ({
  plans: selling.plans.map(fileForm.plan),
  disks: {
    ssdPerGb: fileForm.rates(selling.disks.ssdPerGb),
    mariadbPerGb: fileForm.rates(selling.disks.mariadbPerGb),
  },
  dataCentres: selling.dataCentres.map(fileForm.dataCentre),
})

const sentences = {
  number: { en: 'Enter a number.', vi: 'Nhập một số.' },
  missing: { en: 'Please fill this in.', vi: 'Vui lòng nhập trường này.' },
} as const satisfies Record<string, Sentence>

function sentenceOf(issue: Issue & { readonly expected?: unknown; readonly inclusive?: boolean }) {
  if (issue.input === '') return sentences.missing
  if (issue.code === 'invalid_type' && typeof issue.input === 'string') return sentences.number
  if (issue.code === 'too_small' && issue.inclusive === false) {
    return { en: `More than ${issue.minimum}.`, vi: `Phải lớn hơn ${issue.minimum}.` }
  }
  return { en: fieldMessage(issue, 'en'), vi: fieldMessage(issue, 'vi') }
}

/**
 * Validates the offer with catalog.yaml's schema, within the other content of `text`. A field's
 * name is its path in `selling`, such as plans.1.prices.VND.sale.
 */
export function judgeSelling(
  text: string,
  selling: Selling,
): { readonly catalog: Catalog } | { readonly faults: Readonly<Record<string, Sentence>> } {
  const content = parseDocument(text).toJS() as object
  const read = CatalogFile.safeParse({ ...content, ...fileFormOf(selling) }, { reportInput: true })
  if (read.success) return { catalog: read.data }
  const faults: Record<string, Sentence> = {}
  for (const issue of read.error.issues)
    faults[issue.path.join('.')] ??= sentenceOf(issue as Parameters<typeof sentenceOf>[0])
  return { faults }
}

type FileForm = ReturnType<typeof fileFormOf>
type Listed = { readonly id: number | null }

/** Writes the differences into the document, each value in its own place. */
function setFields(document: Document, at: readonly (string | number)[], to: object): void {
  for (const [name, value] of Object.entries(to)) {
    const path = [...at, name]
    const present = document.getIn(path)
    if (typeof value === 'object' && value !== null) {
      if (isMap(document.getIn(path, true))) setFields(document, path, value as object)
      else document.setIn(path, document.createNode(value))
    } else if (String(present) !== String(value)) document.setIn(path, value)
  }
  const node = document.getIn(at, true)
  if (!isMap(node)) return
  // Remove keys that no longer apply: `sale` when a sale ended, `sold` when a plan is sold again.
  for (const name of ['sale', 'sold'])
    if (!(name in to) && node.has(name)) document.deleteIn([...at, name])
}

function setList(document: Document, name: 'plans' | 'dataCentres', to: readonly Listed[]): void {
  for (const item of to) {
    const list = document.get(name, true)
    const items = isSeq(list) ? list.items : []
    const at = items.findIndex((_, index) => document.getIn([name, index, 'id']) === item.id)
    if (at < 0) document.addIn([name], document.createNode(item))
    else setFields(document, [name, at], item)
  }
}

/**
 * The catalogue's text with this offer. Throws CatalogFault if it is invalid. Comments stay, except
 * in lists that cannot be written value by value.
 */
export function writeSelling(text: string, selling: Selling): string {
  const judged = judgeSelling(text, selling)
  if ('faults' in judged) throw new CatalogFault('What is to be sold has faults.')
  const form: FileForm = fileFormOf(selling)
  const isRight = (candidate: string): boolean => {
    try {
      return sellsTheSame(parseCatalog(candidate, 'the catalogue'), judged.catalog)
    } catch (error) {
      if (error instanceof CatalogFault) return false
      throw error
    }
  }
  const lines = { lineWidth: 0 }
  try {
    const document = parseDocument(text)
    setList(document, 'plans', form.plans)
    setFields(document, ['disks'], form.disks)
    setList(document, 'dataCentres', form.dataCentres)
    const written = document.toString(lines)
    if (isRight(written)) return written
  } catch {
    // Aliases and merged keys cannot be changed in place: replace the lists.
  }
  const document = parseDocument(text)
  for (const [name, value] of Object.entries(form)) document.set(name, document.createNode(value))
  const written = document.toString(lines)
  if (!isRight(written)) throw new CatalogFault('The catalogue cannot be written.')
  return written
}
