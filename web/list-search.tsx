import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useRef, useState, type ReactNode } from 'react'
import { enListSearch } from './i18n/en-list-search.ts'
import { useLanguage } from './i18n/index.ts'
import { viListSearch } from './i18n/vi-list-search.ts'
import { Button } from './ui/Button.tsx'
import { SearchField } from './ui/SearchField.tsx'
import { Empty } from './ui/State.tsx'

/** A list of this many rows is searched rather than read. */
const searchedFrom = 10

interface SearchedRead {
  readonly data: unknown
  readonly hasNextPage: boolean
  /** The rows are those of the search before. */
  readonly isPlaceholderData: boolean
}

interface ListSearch {
  /** The search in the page's address. */
  readonly search: string | undefined
  /**
   * The field, and nothing while the list is short; once shown it stays. `count`: the rows loaded
   * so far.
   */
  readonly field: (list: SearchedRead, count: number) => ReactNode
  /** Stands in place of the rows where the search finds nothing. */
  readonly nothing: ReactNode
}

/** The search of a list, which the address keeps. */
export function useListSearch(of: 'servers' | 'domains'): ListSearch {
  const texts = useLanguage() === 'vi' ? viListSearch : enListSearch
  const t = texts[of]
  const { search } = useSearch({ strict: false })
  const navigate = useNavigate()
  const [isShown, setIsShown] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const find = useCallback(
    (wanted: string | undefined) =>
      void navigate({ to: '.', search: { search: wanted }, replace: true, resetScroll: false }),
    [navigate],
  )
  return {
    search,
    field: (list, count) => {
      if (!isShown) {
        if (search === undefined && !list.hasNextPage && count < searchedFrom) return null
        setIsShown(true)
      }
      const isRead = list.data !== undefined && !list.isPlaceholderData
      return (
        <search className="block border-b border-border p-3 sm:px-5">
          <SearchField
            ref={input}
            label={t.search}
            placeholder={t.search}
            maxLength={253}
            value={search ?? ''}
            onChange={find}
            className="sm:max-w-sm"
          />
          <output className="sr-only">
            {search !== undefined && isRead ? t.found(count, list.hasNextPage) : ''}
          </output>
        </search>
      )
    },
    nothing: (
      <Empty text={t.none}>
        <Button
          variant="outline"
          onClick={() => {
            find(undefined)
            // The button disappears with the message.
            input.current?.focus()
          }}
        >
          {texts.showAll}
        </Button>
      </Empty>
    ),
  }
}
