import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { ArrowLeft, ExternalLink } from 'lucide-react'
import { lazy, Suspense } from 'react'
import type { MemberPermission } from '../../contract/member-roles.ts'
import type { Server } from '../../contract/wordpress.ts'
import { ApiError, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { useTexts } from '../i18n/index.ts'
import { HostedLink } from '../invoices/InvoiceParts.tsx'

import type { LoadInput } from '../load-input.ts'
import { formatTime, useFormat } from '../format.ts'
import { may } from '../may.ts'
import { HelpLink } from '../support/HelpLink.tsx'
import { Badge } from '../ui/Badge.tsx'
import { Missing } from '../pages/Missing.tsx'
import { buttonClass } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Later } from '../ui/Later.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { AdminButton } from './AdminButton.tsx'
import { InfoTab } from './InfoTab.tsx'
import { loadPart } from './load-part.ts'
import { serverQuery, type Kind } from './queries.ts'
import { ServerBadge } from './ServerBadge.tsx'
import { openTabs, type SiteTab } from './site-tabs.ts'
import { SiteTabs } from './SiteTabs.tsx'
import { useRestartEnd } from './restart-end.ts'
import { wording } from './wording.ts'

const LogsTab = lazy(() => loadPart(() => import('./LogsTab.tsx')))
const DiskTab = lazy(() => loadPart(() => import('./DiskTab.tsx')))
const PlansTab = lazy(() => loadPart(() => import('./PlansTab.tsx')))
const BackupsTab = lazy(() => loadPart(() => import('./BackupsTab.tsx')))
const BackupsLeft = lazy(() =>
  loadPart(async () => ({ default: (await import('./BackupsTab.tsx')).BackupsLeft })),
)
const FilesTab = lazy(() => loadPart(() => import('./FilesTab.tsx')))
const ConsoleTab = lazy(() => loadPart(() => import('./ConsoleTab.tsx'), 'tools'))
const DatabaseTab = lazy(() => loadPart(() => import('./DatabaseTab.tsx'), 'tools'))
const UsageTab = lazy(() => loadPart(() => import('./UsageTab.tsx')))
const VisitorsTab = lazy(() => loadPart(() => import('./VisitorsTab.tsx')))
const SpeedTab = lazy(() => loadPart(() => import('./SpeedTab.tsx')))
const MailTab = lazy(() => loadPart(() => import('./MailTab.tsx')))
const UpdatesTab = lazy(() => loadPart(() => import('./UpdatesTab.tsx')))
const MoveInTab = lazy(() => loadPart(() => import('./MoveInTab.tsx'), 'moveIn'))
/** For members in another's account. */
const RoleNote = lazy(() => loadPart(() => import('../team/RoleNote.tsx')))
const DomainTab = lazy(() => loadPart(() => import('./DomainTab.tsx')))

export const load = ({ queryClient, params }: LoadInput) =>
  queryClient.prefetchQuery(serverQuery(params['id'] ?? ''))

export default function SitePage({ kind = 'wordpress' }: { kind?: Kind }) {
  const t = useTexts('servers', 'site')
  const { id = '' } = useParams({ strict: false })
  const { data, isPending, error, refetch } = useQuery(serverQuery(id))
  const isGone = error instanceof ApiError && error.status === 404
  // After the deletion the query still has old data, which must not be shown.
  const server = isGone ? undefined : data
  const words = wording(kind, t)
  return (
    <>
      <title>{`${server ? `${server.name} · ` : ''}${t.site.title} · ${brand}`}</title>
      <div className="mb-6 flex flex-wrap items-center justify-between gap-3">
        <h1 tabIndex={-1} className="text-2xl font-semibold tracking-[-.02em]">
          {t.site.title}
        </h1>
        <Link to={words.listTo} className={buttonClass('outline')}>
          <ArrowLeft aria-hidden className="size-4" />
          {words.back}
        </Link>
      </div>
      {isPending ? <Skeleton className="h-96 rounded-xl" /> : null}
      {server ? <Site server={server} kind={kind} /> : null}
      {error && !server ? (
        <section className="card">
          {isGone ? (
            // A deleted server may still have backups for some days.
            <Suspense fallback={<Skeleton className="h-40 rounded-lg" />}>
              <BackupsLeft
                siteId={id}
                otherwise={
                  <Missing text={t.site.missing}>
                    <Link to={words.listTo} className={buttonClass()}>
                      {t.site.toList}
                    </Link>
                  </Missing>
                }
              />
            </Suspense>
          ) : (
            <LoadError
              text={messageOf(error)}
              retryLabel={t.common.retry}
              onRetry={() => void refetch()}
              reference={error instanceof ApiError ? error.requestId : undefined}
            />
          )}
        </section>
      ) : null}
    </>
  )
}

function Site({ server, kind }: { server: Server; kind: Kind }) {
  const search = useSearch({ strict: false }) as { tab?: unknown }
  // An outdated or mistyped address opens the first part.
  const current = openTabs(may('servers:write')).find((tab) => tab === search.tab) ?? 'general'
  return (
    <section className="card">
      <SiteHead server={server} />
      <SiteTabs current={current} />
      <div
        role="tabpanel"
        id={`panel-${current}`}
        aria-labelledby={`tab-${current}`}
        className="p-5 sm:p-6"
      >
        <Later>
          {() => (
            <Suspense fallback={<Skeleton className="h-96 rounded-lg" />}>
              {may(neededIn(current)) ? null : <RoleNote needs={neededIn(current)} />}
              <Part tab={current} server={server} kind={kind} />
            </Suspense>
          )}
        </Later>
      </div>
    </section>
  )
}

/** The permission that the actions in a part of the page need. */
function neededIn(tab: SiteTab): MemberPermission {
  if (tab === 'general' || tab === 'usage') return 'servers:read'
  return tab === 'disk' || tab === 'mariadb' || tab === 'plans' ? 'orders' : 'servers:write'
}

function Part({ tab, server, kind }: { tab: SiteTab; server: Server; kind: Kind }) {
  switch (tab) {
    case 'general':
      return <InfoTab server={server} kind={kind} />
    case 'usage':
      return <UsageTab server={server} />
    case 'logs':
      return <LogsTab server={server} />
    case 'disk':
    case 'mariadb':
      return <DiskTab key={tab} server={server} which={tab} />
    case 'plans':
      return <PlansTab server={server} />
    case 'domain':
      return <DomainTab server={server} />
    case 'speed':
      return <SpeedTab server={server} />
    case 'visitors':
      return <VisitorsTab server={server} />
    case 'files':
      return <FilesTab server={server} />
    case 'console':
      return <ConsoleTab server={server} />
    case 'database':
      return <DatabaseTab server={server} />
    case 'mail':
      return <MailTab server={server} />
    case 'updates':
      return <UpdatesTab server={server} />
    case 'backups':
      return <BackupsTab server={server} />
    case 'move-in':
      return <MoveInTab server={server} />
  }
}

function SiteHead({ server }: { server: Server }) {
  const t = useTexts('servers', 'site')
  useRestartEnd(server)
  const running = server.status === 'running'
  return (
    <header className="p-5 sm:p-6">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-4">
        <div className="min-w-0">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
            <h2 className="text-xl font-semibold wrap-anywhere">{server.name}</h2>
            <ServerBadge status={server.status} restarting={server.restarting} />
            {server.downSince === null ? null : (
              <Badge tone="danger" dot>
                {t.site.down(formatTime(server.downSince))}
              </Badge>
            )}
          </div>
          <p className="mt-1 flex items-center gap-1 text-sm">
            {running ? (
              <a
                href={server.url}
                target="_blank"
                rel="noreferrer"
                className={
                  'inline-flex min-w-0 items-center gap-1.5 rounded-sm wrap-anywhere ' +
                  'text-primary-ink hover:underline'
                }
              >
                {server.domain}
                <ExternalLink aria-hidden className="size-3.5 shrink-0" />
                <span className="sr-only">({t.common.openIn})</span>
              </a>
            ) : (
              <span className="wrap-anywhere text-ink-2">{server.domain}</span>
            )}
            <CopyButton
              text={server.url}
              label={t.common.copyOf(t.site.domain)}
              doneLabel={t.common.copied}
              className="text-ink-3"
            />
          </p>
        </div>
        {running ? (
          <div className="flex flex-wrap gap-2 max-sm:w-full max-sm:*:flex-1">
            <a
              href={server.url}
              target="_blank"
              rel="noreferrer"
              className={buttonClass('outline')}
            >
              {t.site.visit}
            </a>
            <AdminButton server={server} />
          </div>
        ) : null}
      </div>
      <StatusNote server={server} />
    </header>
  )
}

function PayLink({ server: { invoice } }: { server: Server }) {
  const t = useTexts('servers', 'site')
  if (!invoice || invoice.amount_due === 0 || !may('money:write')) return null
  return (
    <HostedLink
      url={invoice.hosted_invoice_url}
      className="font-semibold underline underline-offset-4"
    >
      {t.site.payInvoice}
    </HostedLink>
  )
}

/** The operator has suspended the server by hand: why, and what its owner can do. */
function HeldNote({ server, held }: { server: Server; held: NonNullable<Server['held']> }) {
  const t = useTexts('servers', 'site')
  const { money } = useFormat()
  const due = server.invoice?.amount_due ?? 0
  return (
    <Note tone="warning" className="mt-4 grid gap-2">
      <p className="font-semibold">{t.site.held(formatTime(held.since))}</p>
      {held.reason === null ? null : <p className="wrap-anywhere">{t.site.reason(held.reason)}</p>}
      <p>{t.site.heldUntil}</p>
      {due > 0 ? <p>{t.site.heldUnpaid(money(due, server.currency))}</p> : null}
      <p className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <HelpLink kind="server" id={server.id} size="sm" />
        <PayLink server={server} />
      </p>
    </Note>
  )
}

function StatusNote({ server }: { server: Server }) {
  const t = useTexts('servers', 'site')
  if (server.status === 'pending_payment' || server.status === 'provisioning') {
    return (
      <Note tone="info" className="mt-4 flex flex-wrap items-center justify-between gap-3">
        {t.site.notRunning}
        <Link
          to="/wordpress-progress/$id"
          params={{ id: server.id }}
          className="font-semibold underline underline-offset-4"
        >
          {t.site.toProgress}
        </Link>
      </Note>
    )
  }
  if (server.held && (server.status === 'suspended' || server.status === 'running'))
    return <HeldNote server={server} held={server.held} />
  if (server.status === 'suspended') {
    return (
      <Note tone="warning" className="mt-4 flex flex-wrap items-center justify-between gap-3">
        {t.site.suspended}
        <PayLink server={server} />
      </Note>
    )
  }
  if (server.status === 'deleting') {
    return (
      <Note tone="info" className="mt-4">
        {t.site.deleting}
      </Note>
    )
  }
  if (server.status === 'failed') {
    return (
      <Note tone="danger" className="mt-4">
        {t.progress.failedText} {server.reason === null ? '' : t.site.reason(server.reason)}
      </Note>
    )
  }
  return null
}
