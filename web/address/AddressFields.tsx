import type * as z from 'zod/mini'
import type { Address } from '../../contract/registration.ts'
import type { FieldErrors } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { Field, Input } from '../ui/Field.tsx'
import { LocationSearch, type Place } from './LocationSearch.tsx'

/** What a form keeps of an address while it is typed. */
export interface AddressValues {
  line: string
  place: Place | null
}

/** The address is given whole or not at all; a line without a place is sent, and the server asks for the place. */
export const addressOf = ({ line, place }: AddressValues): z.output<typeof Address> | null =>
  line.trim() === '' && place === null ? null : { line, locationId: place?.id ?? '' }

/** The two fields of an address, side by side where the form has columns; errors are those of `address` in the body. */
export function AddressFields({
  values,
  errors,
  onLine,
  onPlace,
}: {
  values: AddressValues
  errors: FieldErrors
  onLine: (line: string) => void
  onPlace: (place: Place | null) => void
}) {
  const t = useTexts('address')
  return (
    <>
      <Field label={t.address.line} aside={t.common.optional} error={errors['address.line']}>
        {(control) => (
          <Input
            {...control}
            name="line"
            value={values.line}
            onChange={(event) => onLine(event.target.value)}
            autoComplete="street-address"
          />
        )}
      </Field>
      <LocationSearch value={values.place} onChange={onPlace} error={errors['address.locationId'] ?? errors['address']} />
    </>
  )
}
