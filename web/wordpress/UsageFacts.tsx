import { useQuery } from '@tanstack/react-query'
import type { Server } from '../../contract/wordpress.ts'
import { messageOf } from '../api.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { cx } from '../ui/cx.ts'
import { LoadError, Skeleton } from '../ui/State.tsx'
import { usageQuery } from './site-queries.ts'

/** At and above this share the bar shows a warning. */
const nearlyFull = 0.9

/** The present use of disks and memory. */
export function UsageFacts({ server }: { server: Server }) {
  const t = useTexts('site')
  const { ramSize, diskSize } = useFormat()
  const { data, isPending, isError, error, refetch } = useQuery(usageQuery(server.id))
  return (
    <section aria-labelledby="usage" className="mt-6 border-t border-border pt-5">
      <h3 id="usage" className="text-sm font-semibold">
        {t.site.usage}
      </h3>
      {isPending ? <Skeleton className="mt-3 h-24 rounded-lg" /> : null}
      {isError && !data ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {data ? (
        <div className="mt-3 grid gap-x-10 gap-y-4 sm:grid-cols-2 lg:grid-cols-3">
          <Meter
            label={t.site.disk}
            used={data.disk}
            of={server.disk}
            text={t.site.usageOf(diskSize(data.disk), diskSize(server.disk))}
          />
          <Meter
            label={t.site.mariadb}
            used={data.mariadb_disk_size}
            of={server.mariadb_disk_size}
            text={t.site.usageOf(
              diskSize(data.mariadb_disk_size),
              diskSize(server.mariadb_disk_size),
            )}
          />
          {data.containers.map(({ name, memory }) => (
            <Meter
              key={name}
              label={t.site.memoryOf(name)}
              used={memory ?? 0}
              of={server.ram}
              text={
                memory === null
                  ? t.site.starting
                  : t.site.usageOf(ramSize(memory), ramSize(server.ram))
              }
            />
          ))}
        </div>
      ) : null}
    </section>
  )
}

function Meter({
  label,
  used,
  of,
  text,
}: {
  label: string
  used: number
  of: number
  text: string
}) {
  const share = Math.min(1, used / of)
  return (
    <div className="min-w-0 text-sm">
      <div className="flex items-baseline justify-between gap-3">
        <span className="text-xs text-ink-3">{label}</span>
        <span className="num font-medium">{text}</span>
      </div>
      {/* The native meter element cannot be styled alike in every browser. */}
      <div
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={of}
        aria-valuenow={Math.min(used, of)}
        aria-valuetext={text}
        className="mt-1.5 h-1.5 overflow-hidden rounded-full bg-subtle"
      >
        <div
          className={cx('h-full rounded-full', share >= nearlyFull ? 'bg-danger' : 'bg-primary')}
          // Any use is visible, however small.
          style={{ width: `${Math.max(share * 100, used > 0 ? 1 : 0)}%` }}
        />
      </div>
    </div>
  )
}
