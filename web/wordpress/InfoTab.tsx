import { ShieldCheck } from 'lucide-react'
import { lazy, Suspense, type ReactNode } from 'react'
import type { Server } from '../../contract/wordpress.ts'
import { formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'

import { useConfig } from '../queries.ts'
import { Badge } from '../ui/Badge.tsx'
import { Skeleton } from '../ui/State.tsx'
import { loadPart } from './load-part.ts'
import type { Kind } from './queries.ts'

const InfoParts = lazy(() => loadPart(() => import('./InfoParts.tsx')))

const serverType = 'BASIC'

export function InfoTab({ server, kind }: { server: Server; kind: Kind }) {
  return (
    <>
      <Facts server={server} />
      <Suspense fallback={<Skeleton className="mt-6 h-64 rounded-lg" />}>
        <InfoParts server={server} kind={kind} />
      </Suspense>
    </>
  )
}

function Facts({ server }: { server: Server }) {
  const t = useTexts('site')
  const { products } = useConfig()
  const { ram, disk } = useFormat()
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-5 text-sm sm:gap-x-10 lg:grid-cols-3">
      <Fact term={t.site.type}>
        <span className="flex flex-wrap items-center gap-2">
          {serverType}
          {products.antiDdos ? (
            <Badge tone="success">
              <ShieldCheck aria-hidden className="size-3.5" />
              {t.site.ddos}
            </Badge>
          ) : null}
        </span>
      </Fact>
      <Fact term={t.site.region}>{server.configs.region.name}</Fact>
      <Fact term={t.site.domain} wide>
        {server.status === 'running' ? (
          <a
            href={server.url}
            target="_blank"
            rel="noreferrer"
            className="wrap-anywhere text-primary-ink hover:underline"
          >
            {server.domain}
          </a>
        ) : (
          <span className="wrap-anywhere">{server.domain}</span>
        )}
      </Fact>
      <Fact term={t.site.vcpu}>{server.cpu}</Fact>
      <Fact term={t.site.ram}>{t.server.gb(ram(server.ram))}</Fact>
      <Fact term={t.site.containers}>{server.replicate}</Fact>
      <Fact term={t.site.disk}>{t.server.gb(disk(server.disk))} SSD</Fact>
      <Fact term={t.site.mariadb}>{t.server.gb(disk(server.mariadb_disk_size))}</Fact>
      <Fact term={t.site.created}>
        <time dateTime={server.createdAt}>{formatTime(server.createdAt)}</time>
      </Fact>
    </dl>
  )
}

/** `wide`: the fact has a line of its own on phones. */
function Fact({
  term,
  wide = false,
  children,
}: {
  term: string
  wide?: boolean
  children: ReactNode
}) {
  return (
    <div className={wide ? 'min-w-0 max-lg:col-span-2' : 'min-w-0'}>
      <dt className="text-xs text-ink-3">{term}</dt>
      <dd className="num mt-1 font-medium">{children}</dd>
    </div>
  )
}
