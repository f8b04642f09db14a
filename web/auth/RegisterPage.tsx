import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { register, Registration } from '../../contract/registration.ts'
import { regionCodes, type RegionCode } from '../../contract/money.ts'
import { Attempt, messageOf } from '../api.ts'
import { useForm, type FieldErrors } from '../form.ts'
import { useLanguage, useTexts, type Language } from '../i18n/index.ts'
import { configQuery } from '../queries.ts'
import { onward } from '../session.ts'
import { Button } from '../ui/Button.tsx'
import { Field, Input, PasswordInput, Select } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { AddressFields, addressOf, type AddressValues } from '../address/AddressFields.tsx'
import { authLink, AuthLayout } from './AuthLayout.tsx'

interface Values extends AddressValues {
  name: string
  email: string
  phone: string
  password: string
  region_code: RegionCode
}

const route = getRouteApi('/register')

const regionOf: Record<Language, RegionCode> = { vi: 'VN', en: 'USD', aud: 'AUD' }

export default function RegisterPage() {
  const t = useTexts('auth')
  const language = useLanguage()
  const navigate = useNavigate()
  const { next } = route.useSearch()
  const [attempt] = useState(() => new Attempt())
  const { data: config } = useQuery(configQuery)
  const regions = config?.regions.map((region) => region.code) ?? regionCodes

  const { form, values, errors, failure, busy, set, bind, onSubmit } = useForm({
    initial: {
      name: '',
      email: '',
      phone: '',
      password: '',
      region_code: regionOf[language],
      'address.line': '',
      'address.locationId': null,
    } as Values,
    keep: ['name', 'email', 'phone', 'region_code', 'address.line', 'address.locationId'],
    schema: Registration,
    body: ({ 'address.line': line, 'address.locationId': place, ...account }) => ({
      ...account,
      address: addressOf({ 'address.line': line, 'address.locationId': place }) ?? undefined,
    }),
    submit: async (body) => {
      try {
        await attempt.run(register, { body })
      } catch (error) {
        toast.error(t.toast.error, messageOf(error))
        throw error
      }
      toast.success(t.toast.success, t.auth.registered)
      await navigate({ to: '/check-otp', search: { email: body.email, ...onward(next) } })
    },
  })
  const shown: FieldErrors = {
    ...errors,
    ...(failure?.code === 'email_taken' ? { email: t.auth.taken } : {}),
    ...(failure?.code === 'phone_taken' ? { phone: t.auth.taken } : {}),
  }
  const hints = { phone: t.auth.phoneHint, password: t.auth.passwordHint }
  /** The error message says what is needed, so it replaces the hint. */
  const hint = (field: keyof typeof hints) => (shown[field] ? undefined : hints[field])

  return (
    <AuthLayout
      wide
      title={t.auth.registerTitle}
      sub={t.auth.registerSub}
      footer={
        <>
          {t.auth.haveAccount}{' '}
          <Link to="/login" search={onward(next)} className={authLink}>
            {t.auth.login}
          </Link>
        </>
      }
    >
      <form
        ref={form}
        noValidate
        onSubmit={(event) => void onSubmit(event)}
        className="grid gap-5 sm:grid-cols-2"
      >
        <Field label={t.auth.name} error={shown['name']}>
          {(control) => <Input {...control} {...bind('name')} autoComplete="name" />}
        </Field>
        <Field label={t.auth.email} error={shown['email']}>
          {(control) => (
            <Input
              {...control}
              {...bind('email')}
              type="email"
              autoComplete="email"
              autoCapitalize="none"
              spellCheck={false}
            />
          )}
        </Field>
        <Field label={t.auth.phone} error={shown['phone']} hint={hint('phone')}>
          {(control) => <Input {...control} {...bind('phone')} type="tel" autoComplete="tel" />}
        </Field>
        <Field label={t.auth.password} error={shown['password']} hint={hint('password')}>
          {(control) => (
            <PasswordInput
              {...control}
              {...bind('password')}
              autoComplete="new-password"
              showLabel={t.common.showPassword}
            />
          )}
        </Field>
        <div className="sm:col-span-2">
          <Field label={t.auth.region} error={shown['region_code']} hint={t.auth.regionHint}>
            {(control) => (
              <Select
                {...control}
                name="region_code"
                value={values.region_code}
                onChange={(event) => set('region_code', event.target.value as RegionCode)}
              >
                {regions.map((code) => (
                  <option key={code} value={code}>
                    {t.regions[code]}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
        <AddressFields values={values} errors={shown} set={set} />
        <Button type="submit" size="lg" busy={busy} className="sm:col-span-2">
          {t.auth.register}
        </Button>
      </form>
    </AuthLayout>
  )
}
