import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import type { EventName } from '../../contract/realtime.ts'
import { createWebhook, type Webhook } from '../../contract/webhooks.ts'
import { CardList } from '../account/CardList.tsx'
import { FormFailure } from '../account/FormFailure.tsx'
import { call } from '../api.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, Input } from '../ui/Field.tsx'
import { Skeleton } from '../ui/State.tsx'
import { webhooksQuery } from './queries.ts'
import { SecretDialog } from './SecretDialog.tsx'
import { WebhookBadge } from './WebhookBadge.tsx'

const EventChoice = lazy(() =>
  loadWanted(() => import('./EventChoice.tsx').then((file) => ({ default: file.EventChoice }))),
)

export function WebhooksCard() {
  const t = useTexts('programs')
  const { data, error, refetch } = useQuery(webhooksQuery)
  const [adding, setAdding] = useState(false)
  const [secret, setSecret] = useState<string>()
  return (
    <Card
      title={t.programs.webhooks}
      sub={t.programs.webhooksSub}
      padded={false}
      action={
        adding ? null : (
          <Button size="sm" onClick={() => setAdding(true)}>
            {t.programs.newWebhook}
          </Button>
        )
      }
    >
      {adding ? (
        <div className="border-t border-border p-5">
          <AddForm
            onCancel={() => setAdding(false)}
            onAdded={(made) => {
              setAdding(false)
              setSecret(made)
            }}
          />
        </div>
      ) : null}
      <CardList
        items={data}
        error={error}
        onRetry={refetch}
        empty={adding ? undefined : t.programs.noWebhooks}
        first={
          <Button variant="outline" size="sm" onClick={() => setAdding(true)}>
            {t.programs.firstWebhook}
          </Button>
        }
        row={(webhook) => <WebhookRow key={webhook.id} webhook={webhook} />}
      />
      <SecretDialog
        secret={secret}
        title={t.programs.signingTitle}
        text={t.programs.signingText}
        what={t.programs.signingSecret}
        onClose={() => setSecret(undefined)}
      />
    </Card>
  )
}

function WebhookRow({ webhook }: { webhook: Webhook }) {
  const t = useTexts('programs')
  return (
    <li className="flex flex-wrap items-center justify-between gap-3 px-5 py-3">
      <div className="min-w-0">
        <p className="text-sm font-medium wrap-anywhere">{webhook.url}</p>
        <p className="mt-1 flex flex-wrap items-center gap-2 text-xs text-ink-3">
          <WebhookBadge webhook={webhook} />
          {t.programs.eventCount(webhook.events.length)}
        </p>
      </div>
      <Link
        to="/account/webhooks/$id"
        params={{ id: webhook.id }}
        aria-label={t.programs.openOf(webhook.url)}
        className={buttonClass('outline', 'sm')}
      >
        {t.programs.open}
      </Link>
    </li>
  )
}

function AddForm({
  onCancel,
  onAdded,
}: {
  onCancel: () => void
  onAdded: (secret: string) => void
}) {
  const t = useTexts('programs')
  const queryClient = useQueryClient()
  const { form, values, errors, failure, busy, set, bind, onSubmit } = useForm({
    initial: { url: '', events: [] as EventName[] },
    keep: ['url', 'events'],
    schema: createWebhook.body,
    submit: async (body) => {
      const { secret } = await call(createWebhook, { body })
      await queryClient.invalidateQueries(webhooksQuery)
      onAdded(secret)
    },
  })
  useEffect(() => form.current?.querySelector('input')?.focus(), [form])
  return (
    <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-5">
      <FormFailure failure={failure} />
      <Field label={t.programs.url} error={errors['url']} hint={t.programs.urlHint}>
        {(control) => (
          <Input
            {...control}
            {...bind('url')}
            type="url"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="https://"
          />
        )}
      </Field>
      <Suspense fallback={<Skeleton className="h-80" />}>
        <EventChoice
          chosen={values.events}
          error={errors['events']}
          onChange={(events) => set('events', events)}
        />
      </Suspense>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" busy={busy}>
          {t.programs.add}
        </Button>
        <Button variant="ghost" onClick={onCancel}>
          {t.programs.cancel}
        </Button>
      </div>
    </form>
  )
}
