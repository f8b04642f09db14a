import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Eraser } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { changePageCache, purgePageCache, type PageCacheState } from '../../contract/page-cache.ts'
import type { Server } from '../../contract/wordpress.ts'
import { call, messageOf, serverMessageOr } from '../api.ts'
import { decimals, formatTime, useFormat } from '../format.ts'
import type { Language } from '../i18n/index.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Button } from '../ui/Button.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { Switch } from '../ui/Switch.tsx'
import { toast } from '../ui/toast.ts'
import { PhpPart } from './PhpPart.tsx'
import { pageCacheQuery } from './site-queries.ts'

/** 12,345 in English, 12.345 in Vietnamese. */
const formatNumber = (value: number, language: Language): string =>
  value.toLocaleString(language === 'vi' ? 'vi' : 'en')
/** `share` between 0 and 1 as a percentage, rounded down to a tenth. */
const formatPercent = (share: number, language: Language): string =>
  `${decimals(Math.floor(share * 1000) / 10, language)}%`

/** Kept pages, and the PHP settings. */
export default function SpeedTab({ server }: { server: Server }) {
  return (
    <div className="grid gap-10">
      <PageCache server={server} />
      <PhpPart server={server} />
    </div>
  )
}

/** The switch, the cache's figures, and the button that purges it. */
function PageCache({ server }: { server: Server }) {
  const t = useTexts('site', 'parts')
  const running = server.status === 'running'
  const { data, isPending, isError, error, refetch } = useQuery(pageCacheQuery(server.id))
  return (
    <section aria-labelledby="page-cache" className="grid gap-6">
      <h3 id="page-cache" className="text-sm font-semibold">
        {t.speed.title}
      </h3>
      {isPending ? <Skeleton className="h-48 rounded-lg" /> : null}
      {isError && !data ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {data ? (
        <>
          <Keeping server={server} state={data} />
          {running ? null : <Note tone="info">{t.speed.closed}</Note>}
          {running && data.figures === null ? <Note tone="info">{t.speed.unknown}</Note> : null}
          {data.figures ? <Figures figures={data.figures} /> : null}
          {may('servers:write') ? <Purge server={server} /> : null}
        </>
      ) : null}
    </section>
  )
}

function Keeping({ server, state }: { server: Server; state: PageCacheState }) {
  const t = useTexts('site', 'parts')
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const choose = async (enabled: boolean) => {
    setBusy(true)
    try {
      const fresh = await call(changePageCache, { params: { id: server.id }, body: { enabled } })
      queryClient.setQueryData(pageCacheQuery(server.id).queryKey, fresh)
      toast.success(t.toast.success, enabled ? t.speed.on : t.speed.off)
    } catch (error) {
      toast.error(t.toast.error, serverMessageOr(error, t.speed.failed))
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="max-w-xl">
      <Switch
        label={t.speed.enabled}
        hint={t.speed.hint}
        checked={state.enabled}
        disabled={!may('servers:write')}
        busy={busy}
        onChange={(checked) => void choose(checked)}
      />
    </div>
  )
}

/** The share of hits among visits that could be answered from the cache; null without any. */
const shareOf = ({ hits, misses }: { hits: number; misses: number }): number | null =>
  hits + misses === 0 ? null : hits / (hits + misses)

function Figures({ figures }: { figures: NonNullable<PageCacheState['figures']> }) {
  const t = useTexts('site', 'parts')
  const { language, diskSize } = useFormat()
  const number = (value: number) => formatNumber(value, language)
  const share = shareOf(figures.day)
  const ever = shareOf(figures)
  const megabytes = Math.ceil(figures.bytes / 2 ** 20)
  return (
    <div className="grid gap-4 border-t border-border pt-5">
      <div>
        <h4 className="text-sm font-semibold">{t.speed.day}</h4>
        <p className="mt-0.5 text-xs text-ink-3">
          {t.speed.since(
            formatTime(figures.since),
            ever === null ? null : formatPercent(ever, language),
          )}
        </p>
      </div>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-5 text-sm sm:gap-x-10 lg:grid-cols-5">
        <Fact term={t.speed.rate} wide>
          {share === null ? t.speed.noVisits : formatPercent(share, language)}
        </Fact>
        <Fact term={t.speed.hits}>{number(figures.day.hits)}</Fact>
        <Fact term={t.speed.misses}>{number(figures.day.misses)}</Fact>
        <Fact term={t.speed.bypassed}>{number(figures.day.bypassed)}</Fact>
        <Fact term={t.speed.entries}>
          {number(figures.entries)}
          <span className="ml-2 font-normal text-ink-3">{t.speed.size(diskSize(megabytes))}</span>
        </Fact>
      </dl>
    </div>
  )
}

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

function Purge({ server }: { server: Server }) {
  const t = useTexts('site', 'parts')
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const purge = async () => {
    setBusy(true)
    try {
      const { dropped } = await call(purgePageCache, { params: { id: server.id } })
      toast.success(t.toast.success, t.speed.purged(dropped))
      void queryClient.invalidateQueries({ queryKey: pageCacheQuery(server.id).queryKey })
    } catch (error) {
      toast.error(t.toast.error, serverMessageOr(error, t.speed.purgeFailed))
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="border-t border-border pt-5">
      <Button
        variant="outline"
        busy={busy}
        disabled={server.status !== 'running'}
        onClick={() => void purge()}
        className="max-sm:w-full"
      >
        <Eraser aria-hidden className="size-4" />
        {t.speed.purge}
      </Button>
      <p className="mt-2 max-w-xl text-xs text-ink-3">{t.speed.purgeHint}</p>
    </div>
  )
}
