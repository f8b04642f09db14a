import { changeAccount, type Account } from '../../contract/account.ts'
import { AddressFields, addressOf, type AddressValues } from '../address/AddressFields.tsx'
import { call } from '../api.ts'
import { differing, useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, Input } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { FormFailure } from './FormFailure.tsx'
import { useChanged } from './queries.ts'

interface Values extends AddressValues {
  company: string
  taxCode: string
}

const given = (text: string): string | null => (text.trim() === '' ? null : text)
const bodyOf = ({ company, taxCode, ...address }: Values) => ({
  company: given(company),
  taxCode: given(taxCode),
  address: addressOf(address),
})

/** What invoices print about the customer besides name and email. */
export function BillingCard({ account }: { account: Account }) {
  const t = useTexts('account')
  const changed = useChanged()
  const { form, values, errors, failure, busy, set, bind, onSubmit } = useForm({
    initial: {
      company: account.company ?? '',
      taxCode: account.taxCode ?? '',
      'address.line': account.address?.line ?? '',
      'address.locationId': account.address?.location ?? null,
    } as Values,
    keep: ['company', 'taxCode', 'address.line', 'address.locationId'],
    follows: true,
    schema: changeAccount.body,
    body: (values, begun) => differing(bodyOf(values), bodyOf(begun)),
    submit: async (body) => {
      changed(await call(changeAccount, { body }))
      toast.success(t.toast.success, t.account.saved)
    },
  })
  return (
    <Card title={t.account.billing} sub={t.account.billingSub}>
      <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-4">
        <FormFailure failure={failure} />
        <Field
          label={t.account.company}
          aside={t.common.optional}
          hint={t.account.companyHint}
          error={errors['company']}
        >
          {(control) => (
            <Input {...control} {...bind('company')} autoComplete="organization" maxLength={150} />
          )}
        </Field>
        <Field label={t.account.taxCode} aside={t.common.optional} error={errors['taxCode']}>
          {(control) => (
            <Input
              {...control}
              {...bind('taxCode')}
              autoComplete="off"
              autoCapitalize="characters"
              spellCheck={false}
            />
          )}
        </Field>
        <AddressFields values={values} errors={errors} set={set} />
        <Button type="submit" shown={may('money:write')} busy={busy} className="justify-self-start">
          {t.account.save}
        </Button>
      </form>
    </Card>
  )
}
