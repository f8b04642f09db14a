import { useState, type SubmitEvent } from 'react'
import type { TableColumn } from '../../contract/wordpress-database.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Field, Input, Select } from '../ui/Field.tsx'

interface Filter {
  readonly column: string | undefined
  readonly how: 'is' | 'contains'
  readonly value: string
}

/** Filters rows whose column equals or contains a value. */
export function RowFilter({
  columns,
  onFilter,
}: {
  columns: readonly TableColumn[]
  onFilter: (filter: Filter) => void
}) {
  const t = useTexts('tools')
  const [column, setColumn] = useState('')
  const [how, setHow] = useState<Filter['how']>('contains')
  const [value, setValue] = useState('')
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    onFilter({ column: column === '' ? undefined : column, how, value })
  }
  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
      <div className="min-w-36 flex-1">
        <Field label={t.database.filterColumn}>
          {(control) => (
            <Select {...control} value={column} onChange={({ target }) => setColumn(target.value)}>
              <option value="">{t.database.noFilter}</option>
              {columns.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <div className="min-w-28">
        <Field label={t.database.how}>
          {(control) => (
            <Select
              {...control}
              value={how}
              onChange={({ target }) => setHow(target.value === 'is' ? 'is' : 'contains')}
            >
              <option value="contains">{t.database.contains}</option>
              <option value="is">{t.database.is}</option>
            </Select>
          )}
        </Field>
      </div>
      <div className="min-w-36 flex-2">
        <Field label={t.database.value}>
          {(control) => (
            <Input
              {...control}
              value={value}
              maxLength={2_000}
              spellCheck={false}
              autoCapitalize="none"
              onChange={({ target }) => setValue(target.value)}
            />
          )}
        </Field>
      </div>
      <Button type="submit" variant="outline">
        {t.database.filter}
      </Button>
    </form>
  )
}
