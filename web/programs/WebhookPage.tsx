import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import {
  changeWebhook,
  deleteWebhook,
  rotateSecret,
  testWebhook,
  type Webhook,
} from '../../contract/webhooks.ts'
import { FormFailure } from '../account/FormFailure.tsx'
import { ApiError, call, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { useForm } from '../form.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import type { LoadInput } from '../load-input.ts'
import { ConfirmButton } from '../security/ConfirmButton.tsx'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { LoadMore } from '../ui/LoadMore.tsx'
import { Field, Input } from '../ui/Field.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty, LoadError, Note, Skeleton } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { DeliveryRow } from './DeliveryRow.tsx'
import { EventChoice } from './EventChoice.tsx'
import { deliveriesQuery, webhooksQuery } from './queries.ts'
import { SecretDialog } from './SecretDialog.tsx'
import { WebhookBadge } from './WebhookBadge.tsx'

export const load = ({ queryClient, params }: LoadInput) =>
  queryClient.prefetchInfiniteQuery(deliveriesQuery(params['id'] ?? ''))

/** One webhook: its events, its deliveries, and the actions on it. */
export default function WebhookPage() {
  const t = useTexts('programs')
  const { id } = useParams({ strict: false }) as { id: string }
  const list = useInfiniteQuery(deliveriesQuery(id))
  const { data, error, refetch } = list
  const webhook = data?.pages[0]?.result.webhook
  const deliveries = data?.pages.flatMap(({ result }) => result.deliveries)
  return (
    <>
      <title>{`${t.programs.webhooks} · ${brand}`}</title>
      <PageHead
        title={t.programs.webhooks}
        sub={webhook ? <span className="wrap-anywhere">{webhook.url}</span> : null}
      >
        <Link to="/account/programs" className={buttonClass('outline')}>
          {t.programs.backToPrograms}
        </Link>
      </PageHead>
      {webhook ? (
        <div className="grid items-start gap-6 xl:grid-cols-[minmax(0,1.3fr)_minmax(0,1fr)]">
          <Card
            title={t.programs.deliveries}
            sub={t.programs.deliveriesSub}
            padded={false}
            action={webhook.disabled ? null : <TestButton id={id} />}
          >
            {deliveries?.length === 0 ? <Empty text={t.programs.noDeliveries} /> : null}
            {deliveries && deliveries.length > 0 ? (
              <ul className="divide-y divide-border border-t border-border">
                {deliveries.map((delivery) => (
                  <DeliveryRow key={delivery.id} webhook={webhook} delivery={delivery} />
                ))}
              </ul>
            ) : null}
            <LoadMore
              list={list}
              label={t.common.loadMore}
              failedText={messageOf(error)}
              retryLabel={t.common.retry}
              variant="ghost"
              size="sm"
              className="border-t border-border p-3"
            />
          </Card>
          <SettingsCard webhook={webhook} />
        </div>
      ) : null}
      {!data && error ? (
        <section className="card">
          <LoadError
            text={messageOf(error)}
            retryLabel={t.common.retry}
            onRetry={() => void refetch()}
          />
        </section>
      ) : null}
      {!data && !error ? (
        <div className="grid gap-6 xl:grid-cols-2">
          <Skeleton className="h-96 rounded-xl" />
          <Skeleton className="h-96 rounded-xl" />
        </div>
      ) : null}
    </>
  )
}

/** Refetches the lists and this page. */
function useRefresh(id: string): () => Promise<unknown> {
  const queryClient = useQueryClient()
  return () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: deliveriesQuery(id).queryKey }),
      queryClient.invalidateQueries({ ...webhooksQuery, exact: true }),
    ])
}

function TestButton({ id }: { id: string }) {
  const t = useTexts('programs')
  const refresh = useRefresh(id)
  const test = useMutation({
    mutationFn: () => call(testWebhook, { params: { id } }),
    onSuccess: () => toast.success(t.toast.success, t.programs.testSent),
    onError: (error) => toast.error(t.toast.error, messageOf(error)),
    onSettled: refresh,
  })
  return (
    <Button variant="outline" size="sm" busy={test.isPending} onClick={() => test.mutate()}>
      {t.programs.test}
    </Button>
  )
}

function SettingsCard({ webhook }: { webhook: Webhook }) {
  const t = useTexts('programs')
  const navigate = useNavigate()
  const refresh = useRefresh(webhook.id)
  const [secret, setSecret] = useState<string>()
  const { id } = webhook
  const { form, values, errors, failure, busy, set, bind, onSubmit } = useForm({
    initial: { url: webhook.url, events: webhook.events },
    keep: ['url', 'events'],
    follows: true,
    schema: changeWebhook.body,
    submit: async (body) => {
      await call(changeWebhook, { params: { id }, body })
      await refresh()
      toast.success(t.toast.success, t.programs.saved)
    },
  })
  const switchOn = useMutation({
    mutationFn: () => call(changeWebhook, { params: { id }, body: { enabled: true } }),
    onError: (error) =>
      toast.error(t.toast.error, error instanceof ApiError ? error.message : t.toast.tryAgain),
    onSettled: refresh,
  })
  const refreshes = { queryKey: webhooksQuery.queryKey }
  return (
    <Card title={t.programs.settings} action={<WebhookBadge webhook={webhook} />}>
      <div className="grid gap-5">
        {webhook.disabled ? (
          <Note tone={webhook.disabled.reason === 'owner' ? 'info' : 'warning'}>
            {t.programs.reasons[webhook.disabled.reason]}
          </Note>
        ) : null}
        {!webhook.disabled && webhook.failingSince !== null ? (
          <Note tone="warning">{t.programs.failingSince(formatTime(webhook.failingSince))}</Note>
        ) : null}
        {webhook.earlierSecretUntil === null ? null : (
          <Note tone="info">{t.programs.earlierUntil(formatTime(webhook.earlierSecretUntil))}</Note>
        )}
        <form
          ref={form}
          noValidate
          onSubmit={(event) => void onSubmit(event)}
          className="grid gap-5"
        >
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
              />
            )}
          </Field>
          <EventChoice
            chosen={values.events}
            error={errors['events']}
            onChange={(events) => set('events', events)}
          />
          <Button type="submit" busy={busy} className="justify-self-start">
            {t.programs.save}
          </Button>
        </form>
        <div className="flex flex-wrap gap-2 border-t border-border pt-5">
          {webhook.disabled ? (
            <Button
              variant="outline"
              size="sm"
              busy={switchOn.isPending}
              onClick={() => switchOn.mutate()}
            >
              {t.programs.switchOn}
            </Button>
          ) : (
            <ConfirmButton
              label={t.programs.switchOff}
              title={t.programs.switchOffTitle}
              text={t.programs.switchOffText}
              act={() => call(changeWebhook, { params: { id }, body: { enabled: false } })}
              refreshes={refreshes}
            />
          )}
          <ConfirmButton
            label={t.programs.rotate}
            title={t.programs.rotateTitle}
            text={t.programs.rotateText}
            act={() => call(rotateSecret, { params: { id } })}
            onDone={(made) => setSecret(made.secret)}
            refreshes={refreshes}
          />
          <ConfirmButton
            label={t.programs.remove}
            title={t.programs.removeTitle}
            text={t.programs.removeText}
            danger
            act={() => call(deleteWebhook, { params: { id } })}
            done={t.programs.removed}
            onDone={() => void navigate({ to: '/account/programs' })}
            refreshes={{ queryKey: webhooksQuery.queryKey, exact: true }}
          />
        </div>
      </div>
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
