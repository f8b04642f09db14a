import type * as z from 'zod/mini'
import type { Address } from '../../contract/person.ts'
import type { FieldErrors } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { Field, Input } from '../ui/Field.tsx'
import { LocationSearch, type Place } from './LocationSearch.tsx'

/** An address as a form holds it, under the field names that the server uses in its messages. */
export interface AddressValues {
  'address.line': string
  'address.locationId': Place | null
}

/**
 * An address is given whole or not at all. A line without a valid place is sent anyway, and the
 * server asks for the place.
 */
export const addressOf = ({
  'address.line': line,
  'address.locationId': place,
}: AddressValues): z.output<typeof Address> | null =>
  line.trim() === '' && place === null ? null : { line, locationId: place?.id ?? '' }

interface Props {
  values: AddressValues
  errors: FieldErrors
  set: ((key: 'address.line', line: string) => void) &
    ((key: 'address.locationId', place: Place | null) => void)
}

/** The two fields of an address, side by side where the form has columns. */
export function AddressFields({ values, errors, set }: Props) {
  const t = useTexts('address')
  return (
    <>
      <Field label={t.address.line} aside={t.common.optional} error={errors['address.line']}>
        {(control) => (
          <Input
            {...control}
            name="address.line"
            value={values['address.line']}
            onChange={(event) => set('address.line', event.target.value)}
            autoComplete="street-address"
          />
        )}
      </Field>
      <LocationSearch
        value={values['address.locationId']}
        onChange={(place) => set('address.locationId', place)}
        error={errors['address.locationId'] ?? errors['address']}
      />
    </>
  )
}
