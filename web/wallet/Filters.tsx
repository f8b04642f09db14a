import { X } from 'lucide-react'
import { useCallback, useId } from 'react'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Input } from '../ui/Field.tsx'
import { SearchField } from '../ui/SearchField.tsx'
import { Segmented } from '../ui/Segmented.tsx'
import type { ListFilter } from './queries.ts'

interface FiltersProps {
  filter: ListFilter
  onChange: (change: ListFilter) => void
}

/** The filters of the list. The page's address stores them. */
export function Filters({ filter, onChange }: FiltersProps) {
  const t = useTexts('wallet')
  const id = useId()
  const find = useCallback((search: string | undefined) => onChange({ search }), [onChange])
  const set = Object.values(filter).some((value) => value !== undefined)
  return (
    <search
      className={'flex flex-wrap items-center gap-x-3 gap-y-2.5 border-b border-border p-3 sm:px-5'}
    >
      <SearchField
        label={`${t.wallet.search}: ${t.wallet.searchHint}`}
        placeholder={t.wallet.searchHint}
        maxLength={100}
        value={filter.search ?? ''}
        onChange={find}
        className="min-w-0 flex-1 basis-56"
      />
      <Segmented
        label={t.wallet.filter}
        value={filter.direction ?? 'all'}
        options={[
          { value: 'all', label: t.wallet.all },
          { value: 'in', label: t.wallet.in },
          { value: 'out', label: t.wallet.out },
        ]}
        onChange={(value) => onChange({ direction: value === 'all' ? undefined : value })}
      />
      <div className="flex min-w-0 items-center gap-2 max-sm:w-full max-sm:*:flex-1">
        {(['from', 'to'] as const).map((end) => (
          <label
            key={end}
            htmlFor={`${id}-${end}`}
            className={
              'flex min-w-0 items-center gap-1.5 text-xs whitespace-nowrap text-ink-2 ' +
              'max-sm:flex-col max-sm:items-start'
            }
          >
            {t.wallet[end]}
            <Input
              id={`${id}-${end}`}
              type="date"
              value={filter[end] ?? ''}
              min={end === 'to' ? filter.from : undefined}
              max={end === 'from' ? filter.to : undefined}
              onChange={(event) => onChange({ [end]: event.target.value || undefined })}
              className="num w-36 max-sm:w-full"
            />
          </label>
        ))}
      </div>
      {set ? (
        <Button
          variant="ghost"
          size="sm"
          onClick={() =>
            onChange({ direction: undefined, search: undefined, from: undefined, to: undefined })
          }
        >
          <X aria-hidden className="size-4" />
          {t.wallet.clear}
        </Button>
      ) : null}
    </search>
  )
}
