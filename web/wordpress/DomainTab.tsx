import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ExternalLink, Plus, Trash2, X } from 'lucide-react'
import { useRef, useState, type FormEvent } from 'react'
import type { CertificateState as Certificate } from '../../contract/certificates.ts'
import type { Server } from '../../contract/wordpress.ts'
import { removeDomain, updateDomains } from '../../contract/wordpress-domains.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { useDraft } from '../drafts.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { typedDomain } from '../typed-domain.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button, IconButton } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, Input } from '../ui/Field.tsx'
import { Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { CertificateBadge, CertificateState } from './CertificateState.tsx'
import { DomainRecords } from './DomainRecords.tsx'
import { HttpsOnly } from './HttpsOnly.tsx'
import { MainAddress } from './MainAddress.tsx'
import { serverQuery } from './queries.ts'
import { httpsQuery } from './https-query.ts'
import { domainQuery } from './site-queries.ts'

/** A name that was rejected. */
interface Attempt {
  name: string
  text: string
  /** Whether DNS records would help: the text is a valid name, but it is not proven. */
  provable: boolean
}

export default function DomainTab({ server }: { server: Server }) {
  const t = useTexts('site', 'parts')
  const queryClient = useQueryClient()
  const [adding, setAdding] = useDraft('adding a domain', false)
  const [typed, setTyped] = useDraft('domain', '')
  const [complaint, setComplaint] = useState<string>()
  const [attempt, setAttempt] = useDraft<Attempt | undefined>('domain that waits', undefined)
  const [busy, setBusy] = useState(false)
  const addButton = useRef<HTMLButtonElement>(null)
  const closed = server.status === 'failed' || server.status === 'deleting'
  const proven = server.domainStates.filter((one) => one.verified).map((one) => one.name)
  const { data: https } = useQuery(httpsQuery(server.id, closed ? [] : proven))
  const certificateOf = (name: string) => https?.certificates.find((one) => one.name === name)
  const own = certificateOf(server.domain)
  const secured = server.domains.some((name) => certificateOf(name)?.state === 'issued')

  const close = () => {
    setAdding(false)
    setTyped('')
    setComplaint(undefined)
    requestAnimationFrame(() => addButton.current?.focus())
  }

  /** `isAsked` is false for the automatic check of a name that waits for its records. */
  const add = async (name: string, isAsked = true) => {
    if (busy) return
    setBusy(true)
    setComplaint(undefined)
    try {
      const body = { id: server.id, name: server.name, domains: [...server.domains, name] }
      const { domains } = await call(updateDomains, { params: { id: server.id }, body })
      queryClient.setQueryData(serverQuery(server.id).queryKey, (now) => now && { ...now, domains })
      setAttempt(undefined)
      close()
      void queryClient.invalidateQueries({ queryKey: httpsQuery(server.id).queryKey })
      toast.success(t.toast.success, t.domains.added)
    } catch (error) {
      const provable = error instanceof ApiError && error.code === 'domain_not_verified'
      if (provable) {
        setAttempt({ name, text: t.domains.notVerified, provable })
        setAdding(false)
        setTyped('')
        await queryClient.invalidateQueries({ queryKey: domainQuery(server.id, name).queryKey })
      } else {
        const text =
          (error instanceof ApiError ? error.fields['domains'] : undefined) ?? messageOf(error)
        // A text that is no name has nothing to verify.
        if (error instanceof ApiError && error.code === 'invalid_input') setComplaint(text)
        else setAttempt({ name, text, provable })
      }
      // An automatic check does not report that the records are still missing.
      if (!provable || isAsked) toast.error(t.toast.error, t.domains.failed)
    } finally {
      setBusy(false)
      void queryClient.invalidateQueries({ queryKey: ['servers'] })
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const name = typedDomain(typed)
    if (name !== '') void add(name)
  }

  return (
    <div className="grid gap-6">
      <section aria-labelledby="primary-domain">
        <h3 id="primary-domain" className="text-sm font-semibold">
          {t.domains.primary}
        </h3>
        <p className="mt-0.5 text-xs text-ink-3">{t.domains.primaryHint}</p>
        <p className="mt-2 flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
          <span className="flex min-w-0 items-center gap-1">
            <DomainLink server={server} name={server.domain} url={server.url} />
            <CopyButton
              text={server.domain}
              label={t.common.copyOf(server.domain)}
              doneLabel={t.common.copied}
            />
          </span>
          {own ? <CertificateBadge certificate={own} /> : null}
        </p>
        {own ? <CertificateState serverId={server.id} certificate={own} /> : null}
      </section>
      <section aria-labelledby="extra-domains">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <h3 id="extra-domains" className="text-sm font-semibold">
            {t.domains.extra}
          </h3>
          {adding || closed ? null : (
            <Button
              ref={addButton}
              variant="outline"
              size="sm"
              shown={may('servers:write')}
              onClick={() => setAdding(true)}
            >
              <Plus aria-hidden className="size-4" />
              {t.domains.add}
            </Button>
          )}
        </div>
        {adding && !closed ? (
          <form onSubmit={submit} noValidate className="mt-3 max-w-xl rounded-lg bg-subtle p-4">
            <Field label={t.domains.label} error={complaint}>
              {(control) => (
                <Input
                  {...control}
                  // oxlint-disable-next-line jsx-a11y/no-autofocus
                  autoFocus
                  value={typed}
                  onChange={(event) => setTyped(event.target.value)}
                  onKeyDown={(event) => {
                    if (event.key === 'Escape') close()
                  }}
                  placeholder={t.domains.placeholder}
                  inputMode="url"
                  autoComplete="off"
                  autoCapitalize="none"
                  spellCheck={false}
                  maxLength={300}
                />
              )}
            </Field>
            <div className="mt-3 flex gap-2">
              <Button type="submit" size="sm" busy={busy} disabled={typedDomain(typed) === ''}>
                {t.domains.ok}
              </Button>
              <Button variant="outline" size="sm" onClick={close}>
                {t.common.cancel}
              </Button>
            </div>
          </form>
        ) : null}
        {attempt ? (
          <div className="mt-3 rounded-lg p-4 shadow-[inset_0_0_0_1px_var(--border)]">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
              <span className="min-w-0 flex-1 text-sm font-medium wrap-anywhere">
                {attempt.name}
              </span>
              <Button
                variant="outline"
                size="sm"
                busy={busy}
                onClick={() => void add(attempt.name)}
              >
                {t.domains.verify}
              </Button>
              <IconButton
                label={t.domains.forget}
                size="size-8"
                onClick={() => setAttempt(undefined)}
              >
                <X aria-hidden className="size-4" />
              </IconButton>
            </div>
            {attempt.provable ? (
              <>
                <Note tone="warning" className="mt-2">
                  <p className="font-medium">{t.domains.waiting}</p>
                  <p className="text-xs">{attempt.text}</p>
                </Note>
                <DomainRecords
                  siteId={server.id}
                  name={attempt.name}
                  onVerified={() => void add(attempt.name, false)}
                />
              </>
            ) : (
              <p role="alert" className="mt-1 text-sm font-medium text-danger">
                {attempt.text}
              </p>
            )}
          </div>
        ) : null}
        {server.domains.length > 0 ? (
          <ul
            className={
              'mt-3 divide-y divide-border rounded-lg shadow-[inset_0_0_0_1px_var(--border)]'
            }
          >
            {server.domains.map((name) => (
              <Held key={name} server={server} name={name} certificate={certificateOf(name)} />
            ))}
          </ul>
        ) : null}
        {server.domains.length === 0 && !adding && !attempt ? (
          <p className="mt-3 text-sm text-ink-3">{closed ? t.domains.closed : t.domains.none}</p>
        ) : null}
      </section>
      {server.status === 'running' ? <MainAddress server={server} /> : null}
      {https && !closed && (secured || https.httpsOnly === true) ? (
        <HttpsOnly serverId={server.id} https={https} />
      ) : null}
    </div>
  )
}

function DomainLink({ server, name, url }: { server: Server; name: string; url: string }) {
  const t = useTexts()
  if (server.status !== 'running')
    return <span className="min-w-0 font-medium wrap-anywhere">{name}</span>
  return (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      className={
        'inline-flex min-w-0 items-center gap-1.5 rounded-sm font-medium wrap-anywhere ' +
        'text-primary-ink hover:underline'
      }
    >
      {name}
      <ExternalLink aria-hidden className="size-3.5 shrink-0" />
      <span className="sr-only">({t.common.openIn})</span>
    </a>
  )
}

/** One of the customer's names, as it was at its last check. */
function Held({
  server,
  name,
  certificate,
}: {
  server: Server
  name: string
  certificate: Certificate | undefined
}) {
  const t = useTexts('site', 'parts')
  const [open, setOpen] = useState(false)
  const [removing, setRemoving] = useState(false)
  const state = server.domainStates.find((one) => one.name === name)
  const verified = state?.verified ?? true
  // The name is proven by its TXT record, but visitors still go elsewhere.
  const away = verified && state?.pointed === false
  const own = new URL(server.url)
  const ofCertificate = certificate?.state === 'issued' ? 'https:' : 'http:'
  const scheme = certificate ? ofCertificate : own.protocol
  return (
    <li className="px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <span className="flex min-w-0 flex-1 items-center max-sm:basis-full">
          <DomainLink
            server={server}
            name={name}
            url={own.port ? `${own.protocol}//${name}:${own.port}` : `${scheme}//${name}`}
          />
        </span>
        <Badge tone={verified ? 'success' : 'warning'} dot>
          {verified ? t.domains.verified : t.domains.lost}
        </Badge>
        {away ? (
          <Badge tone="warning" dot>
            {t.domains.notPointed}
          </Badge>
        ) : null}
        {certificate && verified ? <CertificateBadge certificate={certificate} /> : null}
        {verified && !away ? null : (
          <Button variant="outline" size="sm" aria-expanded={open} onClick={() => setOpen(!open)}>
            {t.domains.show}
          </Button>
        )}
        {may('servers:write') ? (
          <IconButton
            label={t.domains.remove(name)}
            size="size-8"
            onClick={() => setRemoving(true)}
          >
            <Trash2 aria-hidden className="size-4" />
          </IconButton>
        ) : null}
      </div>
      {verified || state === undefined ? null : (
        <p className="mt-1 text-xs text-ink-3">{t.domains.lostHint(formatTime(state.checkedAt))}</p>
      )}
      {away ? <p className="mt-1 text-xs text-ink-3">{t.domains.notPointedHint}</p> : null}
      {certificate && verified ? (
        <CertificateState serverId={server.id} certificate={certificate} />
      ) : null}
      {open ? <DomainRecords siteId={server.id} name={name} /> : null}
      <RemoveDomain
        server={server}
        name={name}
        open={removing}
        onClose={() => setRemoving(false)}
      />
    </li>
  )
}

function RemoveDomain({
  server,
  name,
  open,
  onClose,
}: {
  server: Server
  name: string
  open: boolean
  onClose: () => void
}) {
  const t = useTexts('site', 'parts')
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const remove = async () => {
    setBusy(true)
    try {
      const { domains } = await call(removeDomain, { params: { id: server.id, name } })
      onClose()
      queryClient.setQueryData(serverQuery(server.id).queryKey, (now) => now && { ...now, domains })
      toast.success(t.toast.success, t.domains.removed)
    } catch (error) {
      onClose()
      toast.error(
        t.toast.error,
        error instanceof ApiError && error.code === 'offline'
          ? error.message
          : t.domains.removeFailed,
      )
    } finally {
      setBusy(false)
      void queryClient.invalidateQueries({ queryKey: ['servers'] })
    }
  }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      busy={busy}
      title={t.domains.removeTitle}
      description={t.domains.removeText(name)}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button variant="danger" busy={busy} onClick={() => void remove()}>
            {t.domains.removeButton}
          </Button>
        </>
      }
    />
  )
}
