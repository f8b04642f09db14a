import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'
import { formatMoney } from '../../../contract/money.ts'
import type { CatalogPreview } from '../../../contract/operator-catalog.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Field, Input } from '../../ui/Field.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { Note, SkeletonRows } from '../../ui/State.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { DeskError } from '../api.ts'
import { useDeskLanguage, useDeskTexts } from '../language.ts'
import { DeskLink, go } from '../path.tsx'
import { ChangeLines } from './ChangeLines.tsx'
import { previewQuery, proposedQuery, type Wanted } from './queries.ts'

/** The server's message, first of all the one about a field. */
export function sentenceOf(error: Error): string {
  const said = error instanceof DeskError ? Object.values(error.fields) : []
  return said.length > 0 ? said.join(' ') : error.message
}

/** A preview reads every running subscription, so it waits until typing has rested, ms. */
const restMs = 500
/** The typed text, once it has rested. */
function useRested(typed: string): string {
  const [rested, setRested] = useState(typed)
  useEffect(() => {
    const timer = setTimeout(() => setRested(typed), restMs)
    return () => clearTimeout(timer)
  }, [typed])
  return rested
}

interface PreviewProps {
  readonly title: string
  readonly wanted: Wanted
  /** Returns to the form in which the version was edited. */
  readonly onBack?: () => void
  readonly onPublished?: () => void
}

/** What publishing would change, when it takes effect, and the button to publish it. */
export function PreviewView({ title, wanted, onBack, onPublished }: PreviewProps) {
  const words = useDeskTexts().catalog.preview
  const [moment, setMoment] = useState('')
  const [act, setAct] = useState<WantedAct>()
  // The field shows the browser's own time zone.
  const rested = useRested(moment)
  const from = rested === '' ? {} : { from: new Date(rested).toISOString() }
  const whole = { ...wanted, ...from }
  const { data, error, isPlaceholderData } = useQuery({
    ...previewQuery(whole),
    placeholderData: keepPreviousData,
    // No preview while publishing: the version may already be in effect by then.
    enabled: act === undefined,
  })
  // The shown figures belong to the previously typed time.
  const isOld = isPlaceholderData || rested !== moment
  return (
    <>
      <PageHead title={title}>
        {onBack ? (
          <Button variant="outline" onClick={onBack}>
            {words.backToDraft}
          </Button>
        ) : (
          <Back />
        )}
        <Button
          disabled={isOld || !data || data.changes.length === 0}
          onClick={() => setAct({ act: 'catalog.publish', fixed: { ...whole } })}
        >
          {words.publish}
        </Button>
      </PageHead>
      <div className="grid gap-5">
        <div className="max-w-72">
          <Field label={words.countsFrom} hint={words.countsFromHint}>
            {(control) => (
              <Input
                {...control}
                type="datetime-local"
                value={moment}
                onChange={({ target }) => setMoment(target.value)}
              />
            )}
          </Field>
        </div>
        <Shown data={data} error={error} />
      </div>
      {act ? (
        <ActDialog
          wanted={act}
          onClose={() => setAct(undefined)}
          onDone={() => {
            onPublished?.()
            go('/catalog')
          }}
        />
      ) : null}
    </>
  )
}

/** The same preview for a proposal that waits for a second member. */
export function ProposedView({ id }: { id: string }) {
  const words = useDeskTexts().catalog.preview
  const { data, error } = useQuery(proposedQuery(id))
  return (
    <>
      <PageHead title={words.proposed}>
        <Back />
      </PageHead>
      <div className="grid gap-5">
        <Shown data={data} error={error} />
      </div>
    </>
  )
}

function Back() {
  return (
    <DeskLink to="/catalog" className="text-sm text-primary-ink underline">
      {useDeskTexts().catalog.back}
    </DeskLink>
  )
}

function Shown({ data, error }: { data: CatalogPreview | undefined; error: Error | null }) {
  const words = useDeskTexts().catalog.preview
  if (error)
    return (
      <Note tone="danger" role="alert">
        {sentenceOf(error)}
      </Note>
    )
  if (!data) return <SkeletonRows />
  return (
    <>
      {data.needsSecond ? <Note tone="warning">{words.second}</Note> : null}
      <Card title={words.changes}>
        {data.changes.length === 0 ? (
          <p className="text-sm text-ink-2">{words.nothing}</p>
        ) : (
          <ChangeLines changes={data.changes} />
        )}
      </Card>
      <Prices of={data} />
      <Kept of={data} />
      <Letter of={data} />
    </>
  )
}

function Prices({ of: { currencies, running } }: { of: CatalogPreview }) {
  const words = useDeskTexts().catalog.preview
  const language = useDeskLanguage()
  if (currencies.length === 0)
    return (
      <Card title={words.prices}>
        <p className="text-sm text-ink-2">{words.nobody(running)}</p>
      </Card>
    )
  return (
    <Card title={words.prices} sub={`${words.ofRunning(running)} ${words.monthHint}.`}>
      <div className="num grid gap-4 text-sm">
        {currencies.map(({ currency, before, after, rises, falls }) => (
          <div key={currency}>
            <p className="flex flex-wrap gap-x-3 text-base">
              <span className="text-ink-2">{words.month(currency)}</span>
              <span>
                <span className="text-ink-3">{formatMoney(before, currency, language)}</span>
                {' → '}
                <span className="font-semibold">{formatMoney(after, currency, language)}</span>
              </span>
            </p>
            <Group of={rises} says={words.rises} />
            <Group of={falls} says={words.falls} />
          </div>
        ))}
        <p className="text-xs text-ink-3">{words.rule}</p>
      </div>
    </Card>
  )
}

function Group({
  of: { customers, subscriptions, firstOn, lastOn },
  says,
}: {
  of: CatalogPreview['currencies'][number]['rises']
  says: (customers: number, subscriptions: number) => string
}) {
  const words = useDeskTexts().catalog.preview
  if (subscriptions === 0) return null
  const when = firstOn === null || lastOn === null ? [] : [words.renewals(firstOn, lastOn)]
  return <p>{[says(customers, subscriptions), ...when].join(', ')}</p>
}

function Kept({ of: { kept } }: { of: CatalogPreview }) {
  const words = useDeskTexts().catalog.preview
  if (kept.length === 0) return null
  return (
    <Card title={words.kept}>
      <ul className="grid gap-1 text-sm">
        {kept.map(({ plan, servers }) => (
          <li key={plan}>{words.keeps(plan, servers)}</li>
        ))}
      </ul>
    </Card>
  )
}

function Letter({ of: { letter } }: { of: CatalogPreview }): ReactNode {
  const words = useDeskTexts().catalog.preview
  if (letter === null) return null
  const both = [
    { language: 'vi', name: words.vietnamese, ...letter.vi },
    { language: 'en', name: words.english, ...letter.en },
  ]
  return (
    <Card title={words.letter} sub={words.letterHint}>
      <div className="grid gap-5 lg:grid-cols-2">
        {both.map(({ language, name, subject, text }) => (
          <article key={language} className="min-w-0 text-sm">
            <p className="text-xs text-ink-3">{name}</p>
            <div lang={language} className="[overflow-wrap:anywhere]">
              <p className="mt-1 font-medium">{subject}</p>
              <p className="mt-1 whitespace-pre-wrap text-ink-2">{text}</p>
            </div>
          </article>
        ))}
      </div>
    </Card>
  )
}
