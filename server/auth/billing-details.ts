/**
 * A customer's billing details: address, company and tax code. They are optional and printed on
 * invoices.
 */
import type * as z from 'zod/mini'
import type { Account } from '../../contract/account.ts'
import type { Address } from '../../contract/person.ts'
import type { Language } from '../../contract/errors.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import type { Location } from '../../contract/system.ts'
import { Refusal } from '../platform/errors.ts'

/** The place of an id; undefined: it is not in the list. */
export type LocationOf = (id: string) => z.output<typeof Location> | undefined
type Given = z.output<typeof Address>
interface Row {
  readonly address_line: string | null
  readonly location_id: string | null
}

export function refuseUnknownPlace(
  locationOf: LocationOf,
  { locationId }: Given,
  language: Language,
): void {
  if (locationOf(locationId) === undefined)
    throw new Refusal('invalid_input', {
      fields: { 'address.locationId': ruleText('location', language) },
    })
}

export const addressRow = (address: Given | null | undefined): Row => ({
  address_line: address?.line ?? null,
  location_id: address?.locationId ?? null,
})

export const addressOf = (
  locationOf: LocationOf,
  { address_line, location_id }: Row,
): Account['address'] =>
  location_id === null
    ? null
    : { line: address_line ?? '', location: locationOf(location_id) ?? null }

/**
 * The details that an invoice prints besides name and email, if known. `printedPlace`: the end of
 * an address, by the id of its place.
 */
export function printedOf(
  printedPlace: (id: string) => string | undefined,
  row: Row & { readonly company: string | null; readonly tax_code: string | null },
): { address?: string; company?: string; taxCode?: string } {
  const address = [row.address_line, printedPlace(row.location_id ?? '')].filter(Boolean).join(', ')
  return {
    ...(address !== '' && { address }),
    ...(row.company !== null && { company: row.company }),
    ...(row.tax_code !== null && { taxCode: row.tax_code }),
  }
}
