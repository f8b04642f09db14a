import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { unicodeName } from '../../contract/dns-idn.ts'
import type { Server } from '../../contract/wordpress.ts'
import {
  beginRewrite,
  choosePrimary,
  previewRewrite,
  type RewritePreview,
} from '../../contract/wordpress-domains.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, Select } from '../ui/Field.tsx'
import { Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { serverQuery } from './queries.ts'
import { rewriteQuery } from './site-queries.ts'

/**
 * A choice of the name to which visitors of all others are redirected; offered once a name can
 * receive visitors.
 */
export function MainAddress({ server }: { server: Server }) {
  const t = useTexts('site', 'parts')
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const ready = server.domainStates.filter((one) => one.verified && one.pointed !== false)
  const names = ready.map(({ name }) => name)
  const chosen = server.primaryDomain
  // A chosen name that no longer points here is still offered.
  const offered = chosen === null || names.includes(chosen) ? names : [chosen, ...names]

  const choose = async (name: string | null) => {
    if (busy) return
    setBusy(true)
    try {
      const { primaryDomain } = await call(choosePrimary, {
        params: { id: server.id },
        body: { name },
      })
      queryClient.setQueryData(
        serverQuery(server.id).queryKey,
        (now) => now && { ...now, primaryDomain },
      )
      toast.success(t.toast.success, name === null ? t.address.each : t.address.chosen(name))
    } catch (error) {
      const text =
        (error instanceof ApiError ? error.fields['name'] : undefined) ?? messageOf(error)
      toast.error(t.toast.error, text)
    } finally {
      setBusy(false)
      void queryClient.invalidateQueries({ queryKey: ['servers'] })
    }
  }
  if (offered.length === 0) return null
  return (
    <section aria-labelledby="main-address" className="max-w-xl">
      <h3 id="main-address" className="text-sm font-semibold">
        {t.address.title}
      </h3>
      <div className="mt-3">
        <Field label={t.address.label} hint={t.address.hint}>
          {(control) => (
            <Select
              {...control}
              value={chosen ?? ''}
              disabled={!may('servers:write')}
              aria-disabled={busy || undefined}
              onChange={({ target }) => void choose(target.value === '' ? null : target.value)}
            >
              <option value="">{t.address.none}</option>
              {offered.map((name) => (
                <option key={name} value={name}>
                  {unicodeName(name)}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <StoredAddresses server={server} />
    </section>
  )
}

/**
 * Addresses in posts and settings that differ from the present one: counts them, and rewrites them
 * on request.
 */
function StoredAddresses({ server }: { server: Server }) {
  const t = useTexts('site', 'parts')
  const queryClient = useQueryClient()
  const { data: newest } = useQuery(rewriteQuery(server.id))
  const [preview, setPreview] = useState<RewritePreview>()
  const [busy, setBusy] = useState(false)
  const [asked, setAsked] = useState(false)
  const running = newest?.state === 'running'

  const count = async () => {
    setBusy(true)
    try {
      setPreview(await call(previewRewrite, { params: { id: server.id } }))
    } catch (error) {
      toast.error(t.toast.error, messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  const write = async () => {
    setBusy(true)
    try {
      const begun = await call(beginRewrite, { params: { id: server.id } })
      queryClient.setQueryData(rewriteQuery(server.id).queryKey, begun)
      setPreview(undefined)
    } catch (error) {
      toast.error(t.toast.error, messageOf(error))
    } finally {
      setBusy(false)
      setAsked(false)
    }
  }
  return (
    <div className="mt-4">
      <p className="text-xs text-ink-3">{t.address.stored}</p>
      <div aria-live="polite" className="mt-2 grid gap-2">
        {running ? <Note tone="info">{t.address.writing(newest.values)}</Note> : null}
        {newest?.state === 'done' && !preview ? (
          <Note tone="success">{t.address.written(newest.values, newest.to)}</Note>
        ) : null}
        {newest?.state === 'failed' && !preview ? (
          <Note tone="warning">
            <p>{t.address.stopped(newest.values)}</p>
            {newest.problem === null ? null : <p className="text-xs">{newest.problem}</p>}
          </Note>
        ) : null}
        {preview ? (
          <Note tone={preview.values > 0 ? 'warning' : 'success'}>
            <p>
              {preview.values > 0
                ? t.address.found(preview.values, preview.tables.length)
                : t.address.foundNone(preview.to)}
            </p>
            {preview.skipped.length > 0 ? (
              <p className="text-xs">{t.address.skipped(preview.skipped.join(', '))}</p>
            ) : null}
          </Note>
        ) : null}
      </div>
      {running || !may('servers:write') ? null : (
        <div className="mt-3 flex flex-wrap gap-2">
          <Button variant="outline" size="sm" busy={busy && !asked} onClick={() => void count()}>
            {t.address.count}
          </Button>
          {preview && preview.values > 0 ? (
            <Button size="sm" onClick={() => setAsked(true)}>
              {t.address.write}
            </Button>
          ) : null}
        </div>
      )}
      <Dialog
        open={asked}
        onClose={() => setAsked(false)}
        busy={busy}
        title={t.address.writeTitle}
        description={t.address.writeText(preview?.values ?? 0, preview?.to ?? '')}
        closeLabel={t.common.close}
        footer={
          <>
            <Button variant="outline" onClick={() => setAsked(false)}>
              {t.common.cancel}
            </Button>
            <Button busy={busy} onClick={() => void write()}>
              {t.address.write}
            </Button>
          </>
        }
      />
    </div>
  )
}
