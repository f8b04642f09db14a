import { getRouteApi, Link } from '@tanstack/react-router'
import { GitBranch } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { brand } from '../brand.ts'
import { useDraft } from '../drafts.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, Input } from '../ui/Field.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { NotOpenDialog } from './NotOpenDialog.tsx'
import { isRepositoryAddress } from './project-name.ts'

const route = getRouteApi('/app/web-service/create')

export default function WebServicePage() {
  const t = useTexts('paas')
  const { project } = route.useSearch()
  const [requestedHost, setRequestedHost] = useState<string>()
  return (
    <>
      <title>{`${t.service.title} · ${brand}`}</title>
      <PageHead title={t.service.title} sub={t.service.sub}>
        {project === undefined ? null : <Badge tone="primary">{t.service.project(project)}</Badge>}
      </PageHead>
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_320px]">
        <div className="grid gap-5">
          <Card title={t.service.connect} padded={false}>
            <div
              className={
                'flex flex-wrap items-center justify-between gap-3 border-t border-border ' +
                'px-5 py-3'
              }
            >
              <div className="flex min-w-0 items-center gap-3">
                <GitBranch aria-hidden className="size-4 shrink-0 text-ink-3" />
                <div className="min-w-0">
                  <p className="flex flex-wrap items-center gap-2 text-sm font-medium break-all">
                    {t.service.repository} <Badge>{t.paas.sample}</Badge>
                  </p>
                  <p className="text-xs text-ink-3">{t.service.updated}</p>
                </div>
              </div>
              <Button
                variant="outline"
                size="sm"
                aria-label={t.service.connectOf(t.service.repository)}
                onClick={() => setRequestedHost(t.paas.later.anyHost)}
              >
                {t.service.connectOne}
              </Button>
            </div>
          </Card>
          <PublicRepository onAddress={(host) => setRequestedHost(host)} />
        </div>
        <div className="grid gap-5">
          {(['Github', 'Gitlab'] as const).map((host) => (
            <Card key={host} title={host} sub={t.service.hostText(host)}>
              <div className="flex flex-wrap gap-2">
                <Link
                  to="/pages/coming-soon"
                  className={buttonClass('outline', 'sm')}
                  aria-label={t.service.configureOf(host)}
                >
                  {t.service.configure}
                </Link>
                <Link
                  to="/pages/coming-soon"
                  className={buttonClass('ghost', 'sm')}
                  aria-label={t.service.connectAccountOf(host)}
                >
                  {t.service.connectAccount}
                </Link>
              </div>
            </Card>
          ))}
        </div>
      </div>
      <NotOpenDialog host={requestedHost} onClose={() => setRequestedHost(undefined)} />
    </>
  )
}

function PublicRepository({ onAddress }: { onAddress: (host: string) => void }) {
  const t = useTexts('paas')
  const [address, setAddress] = useDraft('address', '')
  const [error, setError] = useState<string>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const text = address.trim()
    if (isRepositoryAddress(text)) onAddress(new URL(text).hostname)
    else setError(t.service.addressInvalid)
  }
  return (
    <Card title={t.service.public} sub={t.service.publicText}>
      <form noValidate onSubmit={submit} className="grid gap-3">
        <Field label={t.service.address} error={error}>
          {(control) => (
            <Input
              {...control}
              name="address"
              type="url"
              inputMode="url"
              value={address}
              placeholder="https://"
              autoComplete="off"
              onChange={(event) => {
                setAddress(event.target.value)
                setError(undefined)
              }}
            />
          )}
        </Field>
        <Button type="submit" variant="outline" className="justify-self-start">
          {t.service.go}
        </Button>
      </form>
    </Card>
  )
}
