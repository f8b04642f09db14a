import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { BookOpen, Globe, LifeBuoy, Plus } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import type { Domain } from '../../contract/dns.ts'
import { messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { useListSearch } from '../list-search.tsx'
import type { LoadInput } from '../load-input.ts'
import { may } from '../may.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { cx } from '../ui/cx.ts'
import { Later } from '../ui/Later.tsx'
import { PagedCard } from '../ui/PagedCard.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty, Note } from '../ui/State.tsx'
import { cell, headCell, headRow, row } from '../ui/table.ts'
import { DomainBadge } from './DomainBadge.tsx'
import { loadPart } from './load-part.ts'
import { domainListQuery } from './queries.ts'

const ActivateDialog = lazy(() => loadPart(() => import('./ActivateDialog.tsx')))
const CreateDialog = lazy(() => loadPart(() => import('./CreateDialog.tsx')))
const DeleteDialog = lazy(() => loadPart(() => import('./DeleteDialog.tsx')))

// Nothing is waited for once the page is shown, because the search's field must stay.
export const load = async ({ queryClient, search: { search }, isShown }: LoadInput) => {
  if (search === undefined && !isShown)
    await queryClient.prefetchInfiniteQuery({ ...domainListQuery(), staleTime: Infinity })
}

const mayCreate = () => may('domains:write') && may('all domains')

type OpenDialog =
  | { what: 'create' }
  | { what: 'activate'; domain: Domain }
  /** `beside`: the domain that stands beside it in the list. */
  | { what: 'delete'; domain: Domain; beside: string | undefined }

/**
 * What was focused may leave the list with what was done. As soon as the list shows that, the focus
 * goes to this domain, or to the heading.
 */
interface FocusNext {
  readonly domain: string | undefined
  /** The domain that was deleted. */
  readonly gone?: string
}

/**
 * The page's head, which is drawn at once after a press of the menu. The list and its reads come in
 * the second rendering.
 */
export default function DomainsPage() {
  const t = useTexts('dns')
  const [openDialog, setOpenDialog] = useState<OpenDialog>()
  const [added, setAdded] = useState<Domain>()
  const [focusNext, setFocusNext] = useState<FocusNext>()
  const navigate = useNavigate()
  const close = () => setOpenDialog(undefined)
  const onCreated = (domain: Domain) => {
    setAdded(domain)
    setFocusNext({ domain: domain.id })
    close()
    // The new domain may not be among those that a search has found.
    void navigate({ to: '.', search: {}, replace: true, resetScroll: false })
  }

  return (
    <>
      <title>{`${t.dns.title} · ${brand}`}</title>
      <PageHead title={t.dns.title} sub={t.dns.sub}>
        <Button shown={mayCreate()} onClick={() => setOpenDialog({ what: 'create' })}>
          <Plus aria-hidden className="size-4" />
          {t.dns.create}
        </Button>
      </PageHead>
      <Later>
        {() => (
          <DomainList
            added={added}
            focusNext={focusNext}
            onFocused={() => setFocusNext(undefined)}
            onOpenDialog={setOpenDialog}
          />
        )}
      </Later>
      <Suspense fallback={null}>
        {openDialog?.what === 'create' ? (
          <CreateDialog onClose={close} onCreated={onCreated} />
        ) : null}
        {openDialog?.what === 'activate' ? (
          <ActivateDialog
            key={openDialog.domain.id}
            domain={openDialog.domain}
            onClose={close}
            onActivated={() => {
              close()
              void navigate({ to: '/dns/domain/$id', params: { id: openDialog.domain.id } })
            }}
          />
        ) : null}
        {openDialog?.what === 'delete' ? (
          <DeleteDialog
            key={openDialog.domain.id}
            domain={openDialog.domain}
            onClose={close}
            onDeleted={() =>
              setFocusNext({ gone: openDialog.domain.id, domain: openDialog.beside })
            }
          />
        ) : null}
      </Suspense>
    </>
  )
}

interface ListProps {
  /** The domain that was just created here. */
  added: Domain | undefined
  focusNext: FocusNext | undefined
  onFocused: () => void
  onOpenDialog: (dialog: OpenDialog) => void
}

function DomainList({ added, focusNext, onFocused, onOpenDialog }: ListProps) {
  const t = useTexts('dns')
  const { search, field, nothing } = useListSearch('domains')
  const query = useInfiniteQuery({
    ...domainListQuery(search),
    placeholderData: keepPreviousData,
  })
  const list = query.data?.pages.flatMap((page) => page.result.data) ?? []
  useEffect(() => {
    if (!focusNext) return
    const { gone, domain } = focusNext
    const isShown = (id: string | undefined) => list.some((one) => one.id === id)
    const waits = gone === undefined ? !isShown(domain) : isShown(gone)
    // A list that could not be read again never shows what was done, and a later read is of later.
    if (waits && (!query.isError || query.isFetching)) return
    if (waits) return onFocused()
    // Whoever has gone on meanwhile stays where they are.
    if (document.activeElement === document.body)
      (document.getElementById(`domain-${domain}`) ?? document.querySelector('h1'))?.focus()
    onFocused()
  })
  return (
    <>
      {added && !list.some(({ id, active }) => id === added.id && active) ? (
        <Note tone="info" className="mb-4">
          <output>{t.dns.addedNext(added.name)}</output>
        </Note>
      ) : null}
      <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_280px]">
        <PagedCard
          label={t.dns.title}
          list={query}
          count={list.length}
          rows={5}
          errorText={messageOf(query.error)}
          retryLabel={t.common.retry}
          moreLabel={t.common.loadMore}
          search={field(query, list.length)}
          empty={
            search !== undefined ? (
              nothing
            ) : (
              <Empty text={t.dns.empty} icon={Globe}>
                <Button
                  variant="outline"
                  shown={mayCreate()}
                  onClick={() => onOpenDialog({ what: 'create' })}
                >
                  {t.dns.first}
                </Button>
              </Empty>
            )
          }
        >
          <Table list={list} onOpenDialog={onOpenDialog} />
        </PagedCard>
        <Help />
      </div>
    </>
  )
}

function Help() {
  const t = useTexts('dns')
  const links = [
    { page: 'dns', icon: Globe, text: t.dns.helpIntro },
    { page: 'dns-records', icon: BookOpen, text: t.dns.helpRecords },
    { page: 'support', icon: LifeBuoy, text: t.dns.helpSupport },
  ] as const
  return (
    <Card title={t.dns.help}>
      <ul className="grid gap-1">
        {links.map(({ page, icon: Icon, text }) => (
          <li key={page}>
            <Link
              to="/docs/$page"
              params={{ page }}
              className={
                '-mx-2 flex items-center gap-2.5 rounded-md px-2 py-2.5 text-sm font-medium ' +
                'text-primary-ink hover:bg-subtle'
              }
            >
              <Icon aria-hidden className="size-4 shrink-0" strokeWidth={1.75} />
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Table({
  list,
  onOpenDialog,
}: {
  list: Domain[]
  onOpenDialog: (dialog: OpenDialog) => void
}) {
  const t = useTexts('dns')
  return (
    <table className="w-full text-sm">
      <caption className="sr-only">{t.dns.title}</caption>
      <thead className="max-sm:sr-only">
        <tr className={cx(headRow, 'border-t-0')}>
          <th scope="col" className={headCell}>
            {t.dns.name}
          </th>
          <th scope="col" className={headCell}>
            {t.dns.status}
          </th>
          <th scope="col" className={cx(headCell, 'max-lg:hidden')}>
            {t.dns.created}
          </th>
          <th scope="col" className={cx(headCell, 'text-right')}>
            {t.dns.actions}
          </th>
        </tr>
      </thead>
      <tbody>
        {list.map((domain, index) => (
          <tr key={domain.id} className={row}>
            <th scope="row" className={cx(cell, 'text-left font-medium')}>
              <Link
                id={`domain-${domain.id}`}
                to="/dns/domain/$id"
                params={{ id: domain.id }}
                className="wrap-anywhere hover:underline"
              >
                {domain.name}
              </Link>
              <span className="mt-1 block sm:hidden">
                <DomainBadge domain={domain} />
              </span>
            </th>
            <td className={cx(cell, 'max-sm:hidden')}>
              <DomainBadge domain={domain} />
            </td>
            <td className={cx(cell, 'num whitespace-nowrap text-ink-2 max-lg:hidden')}>
              <time dateTime={domain.createdAt}>{formatTime(domain.createdAt)}</time>
            </td>
            <td className={cx(cell, 'text-right')}>
              <span className="inline-flex flex-wrap justify-end gap-2">
                {domain.active ? (
                  <Link
                    to="/dns/domain/$id"
                    params={{ id: domain.id }}
                    aria-label={t.dns.detailsOf(domain.name)}
                    className={buttonClass('outline', 'sm')}
                  >
                    {t.dns.details}
                  </Link>
                ) : (
                  <Button
                    variant="soft"
                    size="sm"
                    shown={may('domains:write')}
                    aria-label={t.dns.activateOf(domain.name)}
                    onClick={() => onOpenDialog({ what: 'activate', domain })}
                  >
                    {t.dns.activate}
                  </Button>
                )}
                <Button
                  variant="ghost"
                  size="sm"
                  shown={may('orders')}
                  className="text-danger!"
                  aria-label={t.dns.deleteOf(domain.name)}
                  onClick={() =>
                    onOpenDialog({
                      what: 'delete',
                      domain,
                      beside: (list[index + 1] ?? list[index - 1])?.id,
                    })
                  }
                >
                  {t.dns.delete}
                </Button>
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
