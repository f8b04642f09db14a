import { useQuery } from '@tanstack/react-query'
import { ChartLine } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { Server } from '../../contract/wordpress.ts'
import type { UsageHistory, UsageRange } from '../../contract/wordpress-usage.ts'
import { messageOf } from '../api.ts'
import { decimals, formatDay, formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Segmented } from '../ui/Segmented.tsx'
import { Empty, LoadError, Skeleton } from '../ui/State.tsx'
import { historyQuery } from './site-queries.ts'
import { UsageChart } from './UsageChart.tsx'
import { counts, levels, spansOf, sumOf, type Values } from './usage-series.ts'

/** Visits, answer times and resource use, over a day, a week or 90 days. */
export default function UsageTab({ server }: { server: Server }) {
  const t = useTexts('parts')
  const [range, setRange] = useState<UsageRange>('day')
  const { data, isError, error, refetch } = useQuery(historyQuery(server.id, range))
  const options: { value: UsageRange; label: string }[] = [
    { value: 'day', label: t.history.day },
    { value: 'week', label: t.history.week },
    { value: 'quarter', label: t.history.quarter },
  ]
  return (
    <section aria-labelledby="usage-history" className="grid gap-6">
      <div className="flex flex-wrap items-center justify-between gap-4">
        <h3 id="usage-history" className="text-sm font-semibold">
          {t.history.title}
        </h3>
        <Segmented
          label={t.history.range}
          value={range}
          options={options}
          onChange={(value) => setRange(value)}
        />
      </div>
      {isError && !data ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {!data && !isError ? <Skeleton className="h-96 rounded-lg" /> : null}
      {data?.points.length === 0 ? <Empty icon={ChartLine} text={t.history.empty} /> : null}
      {data && data.points.length > 0 ? <Charts server={server} history={data} /> : null}
    </section>
  )
}

const newest = (values: Values): number | undefined =>
  values.findLast((value) => value !== null) ?? undefined
const most = (values: Values): number => Math.max(0, ...values.map((value) => value ?? 0))

function Charts({ server, history }: { server: Server; history: UsageHistory }) {
  const t = useTexts('parts')
  const { language, ramSize, diskSize } = useFormat()
  const spans = useMemo(() => spansOf(history), [history])
  const { minutes } = history
  const from = Date.parse(history.from)
  const to = Date.parse(history.to)
  const isDay = minutes === 5
  const middle = (from + to) / 2
  const common = {
    // A day ends at the time of day at which it began: beside the first stands its date.
    ends: isDay
      ? ([formatTime(from).slice(5, 16), formatTime(middle).slice(11, 16), t.history.now] as const)
      : ([formatDay(from).slice(5), formatDay(middle).slice(5), t.history.today] as const),
    when: (index: number): string => {
      const at = from + index * minutes * 60_000
      return minutes === 1_440 ? formatDay(at) : formatTime(at).slice(0, 16)
    },
    empty: t.history.none,
  }
  const number = (value: number): string =>
    Math.round(value).toLocaleString(language === 'vi' ? 'vi' : 'en')
  const time = (ms: number): string =>
    ms < 1_000 ? `${Math.round(ms)} ms` : `${decimals(ms / 1_000, language)} s`
  const percent = (value: number): string => `${decimals(value, language)}%`

  const requests = counts(spans, (point) => point.requests)
  const cached = counts(spans, (point) => point.cached)
  const median = spans.map((point) => point?.medianMs ?? null)
  const p95 = spans.map((point) => point?.p95Ms ?? null)
  const clientErrors = counts(spans, (point) => point.clientErrors)
  const serverErrors = counts(spans, (point) => point.serverErrors)
  const cpu = levels(spans, minutes, (point) => point.cpu)
  const memory = levels(spans, minutes, (point) => point.memory)
  const disk = levels(spans, minutes, (point) => point.disk)
  const database = levels(spans, minutes, (point) => point.mariadb_disk_size)
  const now = (values: Values, format: (value: number) => string): string => {
    const value = newest(values)
    return value === undefined ? '–' : format(value)
  }
  const atMost = (values: Values, format: (value: number) => string): string =>
    newest(values) === undefined ? '–' : t.history.most(format(most(values)))
  return (
    <div className="grid gap-x-10 gap-y-9 lg:grid-cols-2">
      <UsageChart
        {...common}
        title={t.history.visits}
        format={number}
        lines={[
          {
            name: t.history.requests,
            values: requests,
            colour: 'chart',
            sum: number(sumOf(requests)),
          },
          {
            name: t.history.cached,
            values: cached,
            colour: 'success',
            sum: number(sumOf(cached)),
          },
        ]}
      />
      <UsageChart
        {...common}
        title={t.history.times}
        format={time}
        lines={[
          { name: t.history.median, values: median, colour: 'chart', sum: now(median, time) },
          { name: t.history.p95, values: p95, colour: 'warning', sum: now(p95, time) },
        ]}
      />
      <UsageChart
        {...common}
        title={t.history.errors}
        format={number}
        lines={[
          {
            name: t.history.serverErrors,
            values: serverErrors,
            colour: 'danger',
            sum: number(sumOf(serverErrors)),
          },
          {
            name: t.history.clientErrors,
            values: clientErrors,
            colour: 'warning',
            sum: number(sumOf(clientErrors)),
          },
        ]}
      />
      <UsageChart
        {...common}
        title={t.history.processor(server.cpu)}
        format={percent}
        lines={[{ name: t.history.cpu, values: cpu, colour: 'chart', sum: atMost(cpu, percent) }]}
      />
      <UsageChart
        {...common}
        title={t.history.memory(ramSize(server.ram * server.replicate))}
        format={(mb) => ramSize(Math.round(mb))}
        lines={[
          { name: t.history.used, values: memory, colour: 'chart', sum: atMost(memory, ramSize) },
        ]}
      />
      <UsageChart
        {...common}
        title={t.history.disks}
        format={(mb) => diskSize(Math.round(mb))}
        lines={[
          {
            name: t.history.files(diskSize(server.disk)),
            values: disk,
            colour: 'chart',
            sum: now(disk, diskSize),
          },
          {
            name: t.history.database(diskSize(server.mariadb_disk_size)),
            values: database,
            colour: 'success',
            sum: now(database, diskSize),
          },
        ]}
      />
    </div>
  )
}
