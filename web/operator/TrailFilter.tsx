import { useState, type FormEvent } from 'react'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, Input, Select } from '../ui/Field.tsx'
import { useDeskTexts } from './language.ts'
import type { TrailFilter } from './queries.ts'

const empty = { actor: '', act: '', about: '', from: '', to: '' }

/** Which acts the trail shows: by whom, which act, about whom or what, and from when to when. */
export function TrailFilterForm({ onChange }: { onChange: (filter: TrailFilter) => void }) {
  const t = useDeskTexts()
  const words = t.trail.filter
  const [values, setValues] = useState(empty)
  const set = (name: keyof typeof empty) => ({
    value: values[name],
    onChange: ({ target }: { target: { value: string } }) =>
      setValues((now) => ({ ...now, [name]: target.value })),
  })
  const isSpan = values.from === '' || values.to === '' || values.from <= values.to
  const show = (event: FormEvent) => {
    event.preventDefault()
    const given = Object.entries(values).map(([name, text]) => [name, text.trim()] as const)
    if (isSpan) onChange(Object.fromEntries(given.filter(([, text]) => text !== '')))
  }
  const names = Object.entries(t.acts).toSorted(([, one], [, other]) => one.localeCompare(other))
  return (
    <Card className="mb-5">
      <form onSubmit={show} className="grid gap-4 sm:grid-cols-2 lg:grid-cols-6">
        <Field label={words.actor}>
          {(control) => <Input {...control} {...set('actor')} maxLength={100} />}
        </Field>
        <Field label={words.act}>
          {(control) => (
            <Select {...control} {...set('act')}>
              <option value="">{words.every}</option>
              {names.map(([name, text]) => (
                <option key={name} value={name}>
                  {text}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <div className="sm:col-span-2">
          <Field label={words.about}>
            {(control) => (
              <Input
                {...control}
                {...set('about')}
                maxLength={254}
                placeholder={words.aboutHint}
                spellCheck={false}
              />
            )}
          </Field>
        </div>
        <Field label={words.from} error={isSpan ? undefined : words.wrong}>
          {(control) => <Input {...control} {...set('from')} type="date" />}
        </Field>
        <Field label={words.to}>
          {(control) => <Input {...control} {...set('to')} type="date" />}
        </Field>
        <div className="flex flex-wrap items-center gap-3 sm:col-span-2 lg:col-span-6">
          <Button type="submit" variant="outline">
            {words.show}
          </Button>
          <Button
            type="button"
            variant="ghost"
            onClick={() => {
              setValues(empty)
              onChange({})
            }}
          >
            {words.clear}
          </Button>
          <span className="text-xs text-ink-3">{words.days}</span>
        </div>
      </form>
    </Card>
  )
}
