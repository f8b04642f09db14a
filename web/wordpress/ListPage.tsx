import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { PanelsTopLeft, Plus } from 'lucide-react'
import type { Server } from '../../contract/wordpress.ts'
import { messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { useListSearch } from '../list-search.tsx'
import type { LoadInput } from '../load-input.ts'
import { buttonClass } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { PagedCard } from '../ui/PagedCard.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty } from '../ui/State.tsx'
import { cell, headCell, headRow, row } from '../ui/table.ts'
import { serverListQuery, type Kind } from './queries.ts'
import { ServerBadge } from './ServerBadge.tsx'
import { wording } from './wording.ts'

// Nothing is waited for once the page is shown, because the search's field must stay.
export const load = async ({ queryClient, search: { search }, isShown }: LoadInput) => {
  if (search === undefined && !isShown)
    await queryClient.prefetchInfiniteQuery({ ...serverListQuery(), staleTime: Infinity })
}

export default function ListPage({ kind = 'wordpress' }: { kind?: Kind }) {
  const t = useTexts('servers')
  const words = wording(kind, t)
  const { search, field, nothing } = useListSearch('servers')
  const query = useInfiniteQuery({
    ...serverListQuery(search),
    placeholderData: keepPreviousData,
  })
  const list = query.data?.pages.flatMap((page) => page.result) ?? []
  const create = (
    <Link to={words.createTo} className={buttonClass()}>
      <Plus aria-hidden className="size-4" />
      {words.create}
    </Link>
  )

  return (
    <>
      <title>{`${words.listTitle} · ${brand}`}</title>
      <PageHead title={words.listTitle} sub={words.listSub}>
        {create}
      </PageHead>
      <PagedCard
        label={words.listTitle}
        list={query}
        count={list.length}
        rows={6}
        errorText={messageOf(query.error)}
        retryLabel={t.common.retry}
        moreLabel={t.common.loadMore}
        search={field(query, list.length)}
        empty={
          search !== undefined ? (
            nothing
          ) : (
            <Empty text={words.empty} icon={PanelsTopLeft}>
              <Link to={words.createTo} className={buttonClass('outline')}>
                {words.first}
              </Link>
            </Empty>
          )
        }
      >
        <Table list={list} kind={kind} />
      </PagedCard>
    </>
  )
}

function ServerLink({
  server,
  className,
  children,
}: {
  server: Server
  className?: string
  children: string
}) {
  const t = useTexts('servers')
  return (
    <Link
      to="/wordpress/$id"
      params={{ id: server.id }}
      className={className}
      aria-label={t.wp.viewOf(server.name)}
    >
      {children}
    </Link>
  )
}

function Table({ list, kind }: { list: Server[]; kind: Kind }) {
  const t = useTexts('servers')
  const { ram, disk } = useFormat()
  const withMariadb = kind === 'wordpress'
  return (
    <table className="w-full text-sm">
      <caption className="sr-only">{wording(kind, t).listTitle}</caption>
      <thead className="max-md:sr-only">
        <tr className={cx(headRow, 'border-t-0')}>
          <th scope="col" className={cx(headCell, 'w-12')}>
            {t.wp.number}
          </th>
          <th scope="col" className={headCell}>
            {t.wp.name}
          </th>
          <th scope="col" className={headCell}>
            {t.wp.size}
          </th>
          <th scope="col" className={cx(headCell, 'text-right')}>
            {t.wp.disk}
          </th>
          {withMariadb ? (
            <th scope="col" className={cx(headCell, 'text-right')}>
              {t.wp.mariadb}
            </th>
          ) : null}
          <th scope="col" className={cx(headCell, 'max-lg:hidden')}>
            {t.wp.created}
          </th>
          <th scope="col" className={headCell}>
            {t.wp.status}
          </th>
          <th scope="col" className={headCell}>
            <span className="sr-only">{t.server.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {list.map((server, index) => (
          <tr key={server.id} className={row}>
            <td className={cx(cell, 'num text-ink-3 max-md:hidden')}>{index + 1}</td>
            <th scope="row" className={cx(cell, 'text-left font-normal')}>
              <span className="block font-medium wrap-anywhere">{server.name}</span>
              <span className="block text-xs wrap-anywhere text-ink-3">{server.domain}</span>
              <span className="num mt-0.5 block text-xs text-ink-3 md:hidden">
                {t.wp.cpuRam(server.cpu, ram(server.ram))} · {t.server.gb(disk(server.disk))}
              </span>
            </th>
            <td className={cx(cell, 'num whitespace-nowrap text-ink-2 max-md:hidden')}>
              {t.wp.cpuRam(server.cpu, ram(server.ram))}
            </td>
            <td className={cx(cell, 'num text-right whitespace-nowrap text-ink-2 max-md:hidden')}>
              {t.server.gb(disk(server.disk))}
            </td>
            {withMariadb ? (
              <td className={cx(cell, 'num text-right whitespace-nowrap text-ink-2 max-md:hidden')}>
                {t.server.gb(disk(server.mariadb_disk_size))}
              </td>
            ) : null}
            <td className={cx(cell, 'num whitespace-nowrap text-ink-2 max-lg:hidden')}>
              <time dateTime={server.createdAt}>{formatTime(server.createdAt)}</time>
            </td>
            <td className={cx(cell, 'max-sm:hidden')}>
              <ServerBadge status={server.status} />
            </td>
            <td className={cx(cell, 'text-right')}>
              <span className="mb-1.5 block sm:hidden">
                <ServerBadge status={server.status} />
              </span>
              <ServerLink server={server} className={buttonClass('outline', 'sm')}>
                {t.wp.view}
              </ServerLink>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
