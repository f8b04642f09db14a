import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { Hit } from '../../contract/operator-desk.ts'
import { Badge } from '../ui/Badge.tsx'
import { Card } from '../ui/Card.tsx'
import { inputClass } from '../ui/Field.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { useDeskTexts } from './language.ts'
import { DeskLink, go, useDeskQuery } from './path.tsx'
import { searchQuery } from './queries.ts'

const pauseMs = 200
/** The search box gets the focus, because visitors of this page come to type. */
const focus = (input: HTMLInputElement | null): void => input?.focus({ preventScroll: true })

/**
 * One search box for everything that identifies a customer. The results replace the content below.
 */
export function SearchBox({ at, children }: { at: '' | '/customers'; children: ReactNode }) {
  const t = useDeskTexts()
  const asked = useDeskQuery().get('q')?.trim() ?? ''
  const [text, setText] = useState(asked)
  const written = useRef(asked)
  useEffect(() => {
    if (asked === written.current) return
    // The address was changed by something else than this box: Back, or a link to the page without
    // a search.
    written.current = asked
    setText(asked)
  }, [asked])
  useEffect(() => {
    const q = text.trim()
    if (q === written.current) return
    const timer = setTimeout(() => {
      written.current = q
      // The address can be shared, and Back returns to this search.
      go(q === '' ? at : `${at}?${new URLSearchParams({ q })}`, true)
    }, pauseMs)
    return () => clearTimeout(timer)
  }, [at, text])
  const { data, error, refetch, isFetching } = useQuery({
    ...searchQuery(asked),
    placeholderData: keepPreviousData,
  })
  const isAsked = asked.length >= 2
  return (
    <>
      <label className="relative block">
        <span className="sr-only">{t.search.label}</span>
        <Search
          aria-hidden
          className="absolute top-3.5 left-3.5 size-[18px] text-ink-3"
          strokeWidth={1.75}
        />
        <input
          type="search"
          ref={focus}
          value={text}
          placeholder={t.search.placeholder}
          onChange={(event) => setText(event.target.value)}
          className={`${inputClass} h-12! pl-11!`}
        />
      </label>
      <p className="mt-2 mb-5 text-xs text-ink-3">{t.search.hint}</p>
      {isAsked ? (
        <Card padded={false}>
          <div aria-live="polite" aria-busy={isFetching}>
            {error ? (
              <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
            ) : null}
            {data?.length === 0 ? <Empty text={t.search.empty} icon={Search} /> : null}
            {data === undefined && !error ? <SkeletonRows className="p-5" /> : null}
            <ul>
              {data?.map((hit, index) => (
                <Found key={`${hit.kind} ${hit.customer?.id ?? ''} ${index}`} hit={hit} />
              ))}
            </ul>
          </div>
        </Card>
      ) : (
        children
      )}
    </>
  )
}

const rowClass =
  'flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-border px-5 py-3 ' +
  'last:border-0 hover:bg-subtle/60'

function addressOf({ customer, ticket, invoice, payment }: Hit): string {
  if (ticket !== undefined) return `/tickets/${ticket}`
  if (invoice !== undefined) return `/invoices/${invoice}`
  if (!customer) return '/suspense'
  const shown = payment === undefined ? '' : `?${new URLSearchParams({ payment })}`
  return `/customers/${customer.id}${shown}`
}

function Found({ hit }: { hit: Hit }) {
  const t = useDeskTexts()
  const { kind, customer, text } = hit
  const content = (
    <>
      <span className="min-w-0 flex-1 basis-60">
        <span className="block truncate font-medium">{customer?.name ?? t.search.nobody}</span>
        <span className="block truncate text-sm text-ink-2">{customer?.email}</span>
      </span>
      {customer?.blocked ? (
        <Badge tone="danger" dot>
          {t.customer.blocked}
        </Badge>
      ) : null}
      {kind === 'customer' ? null : (
        <span className="flex min-w-0 items-center gap-2 text-sm text-ink-2">
          <Badge>{t.search.found[kind]}</Badge>
          <span className="truncate font-mono text-xs">{text}</span>
        </span>
      )}
    </>
  )
  return (
    <li>
      <DeskLink to={addressOf(hit)} className={rowClass}>
        {content}
      </DeskLink>
    </li>
  )
}
