import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { offer, takeBackOffer, type HandOver } from '../../contract/hand-over.ts'
import { CardList } from '../account/CardList.tsx'
import { FormFailure } from '../account/FormFailure.tsx'
import { call, messageOf } from '../api.ts'
import { useForm } from '../form.ts'
import { formatDay, formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { choosableDomainsQuery, choosableServersQuery } from '../programs/choosable.ts'
import { useMe } from '../queries.ts'
import { ConfirmButton } from '../security/ConfirmButton.tsx'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, Input, PasswordInput, Select } from '../ui/Field.tsx'
import { LoadError } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { handOversQuery } from './queries.ts'
import { useTeamTexts } from './texts.ts'

/** Hands a server or domain over to somebody else. */
export default function HandOverCard() {
  const t = useTeamTexts()
  const { data, error, refetch } = useQuery(handOversQuery)
  const [offering, setOffering] = useState(false)
  return (
    <Card
      title={t.handOver}
      sub={t.handOverSub}
      padded={false}
      action={
        offering ? null : (
          <Button size="sm" variant="outline" onClick={() => setOffering(true)}>
            {t.offer}
          </Button>
        )
      }
    >
      {offering ? <OfferForm onDone={() => setOffering(false)} /> : null}
      <CardList
        items={data}
        error={error}
        onRetry={refetch}
        empty={offering ? undefined : t.noHandOver}
        row={(one) => <HandOverRow key={one.id} of={one} />}
      />
    </Card>
  )
}

function HandOverRow({ of }: { of: HandOver }) {
  const t = useTeamTexts()
  return (
    <li className="flex flex-wrap items-start justify-between gap-3 px-5 py-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm font-medium">
          <span className="wrap-anywhere">{of.name}</span>
          <Badge tone="neutral">{t.kinds[of.kind]}</Badge>
        </p>
        <p className="num mt-0.5 text-xs wrap-anywhere text-ink-3">
          {of.acceptedAt === null
            ? `${t.offeredTo(of.email)} · ${t.until(formatTime(of.expiresAt))}`
            : t.takenBy(of.email, formatDay(of.acceptedAt))}
        </p>
      </div>
      {of.acceptedAt === null ? (
        <ConfirmButton
          label={t.takeBack}
          fullLabel={t.takeBackOf(of.name)}
          title={t.takeOfferBackTitle}
          text={t.takeBackText(of.email)}
          danger
          act={() => call(takeBackOffer, { params: { id: of.id } })}
          done={t.offerTakenBack}
          refreshes={handOversQuery}
        />
      ) : null}
    </li>
  )
}

const initial = { what: '', email: '', password: '' }
/** `what` is `server:<id>` or `domain:<id>`, as in the list. */
const bodyOf = ({ what, email, password }: typeof initial) => {
  const [kind = '', id = ''] = what.split(':')
  return { kind, id, email, password }
}

function OfferForm({ onDone }: { onDone: () => void }) {
  const t = useTeamTexts()
  const { common, toast: toasts } = useTexts()
  const me = useMe()
  const queryClient = useQueryClient()
  const servers = useQuery(choosableServersQuery)
  const domains = useQuery(choosableDomainsQuery)
  /** The list of servers or domains that could not be read. */
  const unread = [servers, domains].find(({ data, error }) => data === undefined && error)
  const { form, values, errors, failure, busy, set, bind, onSubmit } = useForm({
    initial,
    keep: ['what', 'email'],
    schema: offer.body,
    body: bodyOf,
    submit: async (body) => {
      await call(offer, { body })
      await queryClient.invalidateQueries(handOversQuery)
      toast.success(toasts.success, t.offerSent)
      onDone()
    },
  })
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => void onSubmit(event)}
      aria-label={t.handOver}
      className="grid gap-5 border-t border-border p-5"
    >
      <FormFailure failure={failure} />
      <Field
        label={t.what}
        error={values.what === '' && errors['kind'] ? t.chooseWhat : errors['id']}
        hint={t.offerHint}
      >
        {(control) => (
          <Select
            {...control}
            disabled={servers.isPending || domains.isPending}
            value={values.what}
            onChange={(event) => set('what', event.target.value)}
          >
            <option value="">{t.chooseWhat}</option>
            {servers.data?.map(({ id, name }) => (
              <option key={id} value={`server:${id}`}>
                {`${t.kinds.server}: ${name}`}
              </option>
            ))}
            {domains.data?.map(({ id, name }) => (
              <option key={id} value={`domain:${id}`}>
                {`${t.kinds.domain}: ${name}`}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {unread ? (
        <LoadError
          text={messageOf(unread.error)}
          retryLabel={common.retry}
          onRetry={() => void unread.refetch()}
          className="py-3"
        />
      ) : null}
      <Field label={t.email} error={errors['email']} hint={t.emailHint}>
        {(control) => (
          <Input {...control} {...bind('email')} type="email" autoComplete="off" maxLength={254} />
        )}
      </Field>
      {/* Tells password managers whose password this is. */}
      <input type="text" name="username" autoComplete="username" value={me.email} readOnly hidden />
      <Field label={t.password} error={errors['password']}>
        {(control) => (
          <PasswordInput
            {...control}
            {...bind('password')}
            autoComplete="current-password"
            showLabel={common.showPassword}
          />
        )}
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" busy={busy}>
          {t.sendOffer}
        </Button>
        <Button variant="ghost" onClick={onDone}>
          {t.cancel}
        </Button>
      </div>
    </form>
  )
}
