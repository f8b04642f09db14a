import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { createToken, longestTokenDays, usualTokenDays } from '../../contract/tokens.ts'
import type { TokenScope } from '../../contract/token-scopes.ts'
import { FormFailure } from '../account/FormFailure.tsx'
import { call } from '../api.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { useMe } from '../queries.ts'
import { Button } from '../ui/Button.tsx'
import { Field, Input, inputClass, PasswordInput, Select } from '../ui/Field.tsx'
import { cx } from '../ui/cx.ts'
import { Chosen } from './Chosen.tsx'
import { choosableDomainsQuery, choosableServersQuery } from './choosable.ts'
import { tokensQuery } from './queries.ts'

type Access = 'none' | 'read' | 'write'
const roomsWithWrite = ['servers', 'domains'] as const
const rooms = ['servers', 'domains', 'wallet', 'invoices'] as const
const expiries = [30, usualTokenDays, 180, longestTokenDays]

interface Values {
  name: string
  servers: Access
  domains: Access
  wallet: Access
  invoices: Access
  onlyServers: string[] | null
  onlyDomains: string[] | null
  networks: string
  expires: number
  password: string
}
const initial: Values = {
  name: '',
  servers: 'none',
  domains: 'none',
  wallet: 'none',
  invoices: 'none',
  onlyServers: null,
  onlyDomains: null,
  networks: '',
  expires: usualTokenDays,
  password: '',
}
const scopesOf = (values: Values): TokenScope[] =>
  rooms.flatMap((room) =>
    values[room] === 'none' ? [] : [`${room}:${values[room]}` as TokenScope],
  )
const bodyOf = (values: Values) => ({
  name: values.name,
  scopes: scopesOf(values),
  servers: values.servers === 'none' ? null : values.onlyServers,
  domains: values.domains === 'none' ? null : values.onlyDomains,
  networks: values.networks
    .split(/[\s,]+/)
    .map((text) => text.trim())
    .filter(Boolean),
  expiresInDays: values.expires,
  password: values.password,
})

export default function TokenForm({
  onCancel,
  onMade,
}: {
  onCancel: () => void
  onMade: (secret: string) => void
}) {
  const t = useTexts('programs')
  const { email } = useMe()
  const queryClient = useQueryClient()
  const { form, values, errors, failure, busy, set, bind, onSubmit } = useForm({
    initial,
    keep: ['name', 'servers', 'domains', 'wallet', 'invoices', 'networks', 'expires'],
    schema: createToken.body,
    body: bodyOf,
    submit: async (body) => {
      const { secret } = await call(createToken, { body })
      await queryClient.invalidateQueries(tokensQuery)
      onMade(secret)
    },
  })
  useEffect(() => form.current?.querySelector('input')?.focus(), [form])
  const isLimited = values.onlyServers !== null || values.onlyDomains !== null
  return (
    <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-5">
      <FormFailure failure={failure} />
      <Field label={t.programs.name} error={errors['name']} hint={t.programs.nameHint}>
        {(control) => <Input {...control} {...bind('name')} autoComplete="off" maxLength={60} />}
      </Field>
      <fieldset className="grid gap-3">
        <legend className="mb-2 text-sm font-medium">{t.programs.access}</legend>
        <div className="grid gap-4 sm:grid-cols-2">
          {rooms.map((room) => (
            <Field key={room} label={t.programs.rooms[room]}>
              {(control) => (
                <Select
                  {...control}
                  value={values[room]}
                  onChange={(event) => {
                    set(room, event.target.value as Access)
                  }}
                >
                  <option value="none">{t.programs.verbs.none}</option>
                  <option value="read">{t.programs.verbs.read}</option>
                  {roomsWithWrite.some((one) => one === room) ? (
                    <option value="write">{t.programs.verbs.write}</option>
                  ) : null}
                </Select>
              )}
            </Field>
          ))}
        </div>
        {values.servers === 'write' ? (
          <p className="text-xs text-ink-3">{t.programs.writeHint}</p>
        ) : null}
        {errors['scopes'] ? (
          <p role="alert" className="text-xs font-medium text-danger">
            {scopesOf(values).length === 0 ? t.programs.chooseAccess : errors['scopes']}
          </p>
        ) : null}
      </fieldset>
      {values.servers === 'none' ? null : (
        <Chosen
          label={t.programs.onlyServers}
          empty={t.programs.noServers}
          query={choosableServersQuery}
          chosen={values.onlyServers}
          error={errors['servers']}
          onChange={(ids) => set('onlyServers', ids)}
        />
      )}
      {values.domains === 'none' ? null : (
        <Chosen
          label={t.programs.onlyDomains}
          empty={t.programs.noDomains}
          query={choosableDomainsQuery}
          chosen={values.onlyDomains}
          error={errors['domains']}
          onChange={(ids) => set('onlyDomains', ids)}
        />
      )}
      {isLimited && (values.wallet !== 'none' || values.invoices !== 'none') ? (
        <p className="text-xs text-ink-2">{t.programs.wholeOnly}</p>
      ) : null}
      <Field
        label={t.programs.networks}
        aside={t.common.optional}
        error={errors['networks']}
        hint={t.programs.networksHint}
      >
        {(control) => (
          <textarea
            {...control}
            {...bind('networks')}
            rows={2}
            spellCheck={false}
            autoCapitalize="none"
            className={cx(inputClass, 'h-auto py-2 font-mono')}
          />
        )}
      </Field>
      <Field label={t.programs.expires} error={errors['expiresInDays']}>
        {(control) => (
          <Select
            {...control}
            value={values.expires}
            onChange={(event) => set('expires', Number(event.target.value))}
          >
            {expiries.map((days) => (
              <option key={days} value={days}>
                {days === longestTokenDays ? t.programs.year : t.programs.days(days)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {/* Tells password managers whose password this is. */}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <Field label={t.programs.password} error={errors['password']}>
        {(control) => (
          <PasswordInput
            {...control}
            {...bind('password')}
            autoComplete="current-password"
            showLabel={t.common.showPassword}
          />
        )}
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" busy={busy}>
          {t.programs.make}
        </Button>
        <Button variant="ghost" onClick={onCancel}>
          {t.programs.cancel}
        </Button>
      </div>
    </form>
  )
}
