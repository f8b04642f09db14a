import { useState } from 'react'
import { accountingExports } from '../../../contract/operator-money.ts'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { buttonClass } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Field, Input } from '../../ui/Field.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { Note } from '../../ui/State.tsx'
import { useDeskTexts } from '../language.ts'

const dayText = (at: Date): string => at.toLocaleDateString('sv-SE')

/** Accounting exports for a span of days, at first the previous month. */
export function ExportsView({ session }: { session: StaffSession }) {
  const words = useDeskTexts().money.exports
  const [from, setFrom] = useState(() => {
    const now = new Date()
    return dayText(new Date(now.getFullYear(), now.getMonth() - 1, 1))
  })
  const [to, setTo] = useState(() => {
    const now = new Date()
    return dayText(new Date(now.getFullYear(), now.getMonth(), 0))
  })
  const isSpan = from !== '' && to !== '' && from <= to
  if (!mayDo(session.role, 'money'))
    return (
      <>
        <PageHead title={words.title} sub={words.sub} />
        <Note tone="info">{words.notAllowed}</Note>
      </>
    )
  return (
    <>
      <PageHead title={words.title} sub={words.sub} />
      <Card className="mb-5">
        <div className="grid max-w-xl gap-4 sm:grid-cols-2">
          <Field label={words.from} error={isSpan ? undefined : words.wrong}>
            {(control) => (
              <Input
                {...control}
                type="date"
                value={from}
                onChange={({ target }) => setFrom(target.value)}
              />
            )}
          </Field>
          <Field label={words.to}>
            {(control) => (
              <Input
                {...control}
                type="date"
                value={to}
                onChange={({ target }) => setTo(target.value)}
              />
            )}
          </Field>
        </div>
        <p className="mt-3 text-xs text-ink-3">{words.hint}</p>
      </Card>
      <Card padded={false}>
        <ul>
          {accountingExports.map((name) => (
            <li
              key={name}
              className={
                'flex flex-wrap items-center gap-x-4 gap-y-2 border-t border-border px-5 py-3 ' +
                'first:border-0'
              }
            >
              <span className="min-w-0 flex-1 basis-60">
                <span className="block text-sm font-medium">{words.names[name]}</span>
                <span className="block text-sm text-ink-2">{words.about[name]}</span>
              </span>
              {isSpan ? (
                <a
                  download
                  href={`/api/operator/exports/${name}?${new URLSearchParams({ from, to })}`}
                  aria-label={`${words.download}: ${words.names[name]}`}
                  className={buttonClass('outline')}
                >
                  {words.download}
                </a>
              ) : null}
            </li>
          ))}
        </ul>
      </Card>
    </>
  )
}
