import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Boxes, Plus } from 'lucide-react'
import type { Server } from '../../contract/wordpress.ts'
import { messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { useTexts } from '../i18n/index.ts'
import type { LoadInput } from '../load-input.ts'
import { Badge } from '../ui/Badge.tsx'
import { buttonClass } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { PagedCard } from '../ui/PagedCard.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty, Note } from '../ui/State.tsx'
import { cell, headCell, headRow, row } from '../ui/table.ts'
import { serverListQuery } from '../wordpress/queries.ts'

export const load = ({ queryClient }: LoadInput) =>
  queryClient.prefetchInfiniteQuery(serverListQuery())

/** One sample row per WordPress server, as the specification demands, marked as a sample. */
export default function PaasPage() {
  const t = useTexts('paas')
  const query = useInfiniteQuery(serverListQuery())
  const list = query.data?.pages.flatMap((page) => page.result) ?? []
  return (
    <>
      <title>{`${t.paas.title} · ${brand}`}</title>
      <PageHead title={t.paas.title} sub={t.paas.sub}>
        <Link to="/web-service/create" className={buttonClass()}>
          <Plus aria-hidden className="size-4" />
          {t.paas.create}
        </Link>
      </PageHead>
      {list.length > 0 ? (
        <Note tone="info" className="mb-4">
          {t.paas.sampleNote}
        </Note>
      ) : null}
      <PagedCard
        label={t.paas.title}
        list={query}
        count={list.length}
        rows={6}
        errorText={messageOf(query.error)}
        retryLabel={t.common.retry}
        moreLabel={t.common.loadMore}
        empty={<Empty text={t.paas.empty} icon={Boxes} />}
      >
        <Table list={list} />
      </PagedCard>
    </>
  )
}

function Table({ list }: { list: Server[] }) {
  const t = useTexts('paas')
  const { row: sample } = t.paas
  const heads = [
    t.paas.name,
    t.paas.status,
    t.paas.type,
    t.paas.environment,
    t.paas.region,
    t.paas.deployed,
  ]
  const hidden = [
    '',
    'max-sm:hidden',
    'max-lg:hidden',
    'max-md:hidden',
    'max-md:hidden',
    'max-lg:hidden',
  ]
  return (
    <table className="w-full text-sm">
      <caption className="sr-only">{t.paas.title}</caption>
      <thead className="max-sm:sr-only">
        <tr className={cx(headRow, 'border-t-0')}>
          {heads.map((head, index) => (
            <th key={head} scope="col" className={cx(headCell, hidden[index])}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {list.map((server) => (
          <tr key={server.id} className={row}>
            <th scope="row" className={cx(cell, 'text-left font-normal')}>
              <span className="mr-2 font-medium">{sample.name}</span>
              <Badge>{t.paas.sample}</Badge>
              <span className="mt-1.5 block sm:hidden">
                <Badge tone="success" dot>
                  {sample.status}
                </Badge>
              </span>
            </th>
            <td className={cx(cell, hidden[1])}>
              <Badge tone="success" dot>
                {sample.status}
              </Badge>
            </td>
            <td className={cx(cell, 'text-ink-2', hidden[2])}>{sample.type}</td>
            <td className={cx(cell, 'text-ink-2', hidden[3])}>{sample.environment}</td>
            <td className={cx(cell, 'text-ink-2', hidden[4])}>{sample.region}</td>
            <td className={cx(cell, 'text-ink-2', hidden[5])}>{sample.deployed}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
