import { useQuery } from '@tanstack/react-query'
import { MapPin, X } from 'lucide-react'
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react'
import { searchLocations } from '../../contract/system.ts'
import { call } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { cx } from '../ui/cx.ts'
import { Field, Input } from '../ui/Field.tsx'

/** `id` is empty while the text was typed but no place was chosen. */
export interface Place {
  id: string
  name: string
}

const settleMs = 200
const mostShown = 20

/**
 * A search field with a list of places (combobox). Accents may be left out: the server folds them.
 */
export function LocationSearch({
  value,
  onChange,
  error,
}: {
  value: Place | null
  onChange: (place: Place | null) => void
  error: string | undefined
}) {
  const t = useTexts('address')
  const listId = useId()
  const input = useRef<HTMLInputElement>(null)
  const text = value?.name ?? ''
  const chosen = value !== null && value.id !== ''
  const [query, setQuery] = useState('')
  const [open, setOpen] = useState(false)
  const [at, setAt] = useState(0)

  useEffect(() => {
    const timer = setTimeout(() => setQuery(text.trim()), settleMs)
    return () => clearTimeout(timer)
  }, [text])

  const {
    data: places,
    isFetching,
    isPlaceholderData,
  } = useQuery({
    queryKey: ['locations', query],
    queryFn: ({ signal }) =>
      call(searchLocations, { query: { search: query, limit: mostShown } }, { signal }),
    enabled: open && query.length > 0 && !chosen,
    staleTime: 300_000,
    placeholderData: (before) => before,
  })
  const shown = open && !chosen && query.length > 0 && places !== undefined
  const list = shown ? places : []

  const choose = (place: Place) => {
    onChange({ id: place.id, name: place.name })
    setOpen(false)
  }
  const clear = () => {
    onChange(null)
    input.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setOpen(true)
      const step = event.key === 'ArrowDown' ? 1 : -1
      setAt((now) => Math.min(Math.max(list.length - 1, 0), Math.max(0, now + step)))
    } else if (event.key === 'Enter' && shown) {
      // While the list still belongs to an earlier text, Enter chooses nothing.
      event.preventDefault()
      if (list[at] && query === text.trim() && !isPlaceholderData) choose(list[at])
    } else if (event.key === 'Escape') setOpen(false)
  }

  return (
    <div className="relative">
      <Field
        label={t.address.place}
        aside={t.common.optional}
        hint={t.address.placeHint}
        error={error}
      >
        {(control) => (
          <span className="relative block">
            <Input
              {...control}
              ref={input}
              // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
              role="combobox"
              aria-expanded={shown}
              aria-controls={listId}
              aria-autocomplete="list"
              aria-activedescendant={list[at] ? `${listId}-${at}` : undefined}
              autoComplete="off"
              value={text}
              className="pr-9"
              onChange={(event) => {
                onChange(event.target.value === '' ? null : { id: '', name: event.target.value })
                setAt(0)
                setOpen(true)
              }}
              onFocus={() => setOpen(true)}
              onBlur={() => setTimeout(() => setOpen(false), 120)}
              onKeyDown={onKeyDown}
            />
            {chosen ? (
              <button
                type="button"
                aria-label={t.address.clear}
                onClick={clear}
                className={
                  'absolute inset-y-0 right-1 my-auto grid size-8 place-items-center rounded-md ' +
                  'text-ink-3 hover:bg-subtle'
                }
              >
                <X aria-hidden className="size-4" />
              </button>
            ) : (
              <MapPin
                aria-hidden
                className="pointer-events-none absolute top-3 right-3 size-4 text-ink-3"
              />
            )}
            <ul
              id={listId}
              /* oxlint-disable-next-line
                 jsx-a11y/no-noninteractive-element-to-interactive-role,
                 jsx-a11y/prefer-tag-over-role */
              role="listbox"
              aria-label={t.address.places}
              hidden={!shown}
              className={
                'absolute top-11 z-10 max-h-60 w-full overflow-y-auto rounded-lg bg-raised ' +
                'p-1 shadow-pop'
              }
            >
              {list.map((place, index) => (
                <li
                  key={place.id}
                  id={`${listId}-${index}`}
                  /* oxlint-disable-next-line
                     jsx-a11y/no-noninteractive-element-to-interactive-role,
                     jsx-a11y/prefer-tag-over-role */
                  role="option"
                  aria-selected={index === at}
                  onPointerDown={(event) => {
                    event.preventDefault()
                    choose(place)
                  }}
                  onPointerMove={() => setAt(index)}
                  className={cx(
                    'flex min-h-9 cursor-pointer items-center justify-between gap-3 ' +
                      'rounded-md px-2.5 py-1.5 text-sm',
                    index === at && 'bg-primary-soft text-primary-ink',
                  )}
                >
                  {place.name}
                  <span className="text-xs text-ink-3">{place.country}</span>
                </li>
              ))}
              {list.length === 0 && !isFetching ? (
                <li
                  /* oxlint-disable-next-line
                     jsx-a11y/no-noninteractive-element-to-interactive-role,
                     jsx-a11y/prefer-tag-over-role */
                  role="option"
                  aria-selected="false"
                  aria-disabled="true"
                  className="px-2.5 py-2 text-sm text-ink-3"
                >
                  {t.address.noPlace}
                </li>
              ) : null}
            </ul>
          </span>
        )}
      </Field>
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
      <span role="status" className="sr-only">
        {chosen ? t.address.placeChosen(value.name) : null}
        {!chosen && shown ? t.address.placesFound(list.length) : null}
      </span>
    </div>
  )
}
