import { useMutation, useQuery } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { formatCount, formatMoney } from '../../contract/money.ts'
import {
  previewCustomerImport,
  type CustomerImport,
  type ImportPreview,
} from '../../contract/operator-imports.ts'
import type { StaffSession } from '../../contract/operator.ts'
import { mayDo } from '../../contract/staff-roles.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, inputClass } from '../ui/Field.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty, LoadError, Note, SkeletonRows } from '../ui/State.tsx'
import { ActDialog, type WantedAct } from './ActDialog.tsx'
import { BackLink } from './BackLink.tsx'
import { call, DeskError } from './api.ts'
import { timeOf, useDeskLanguage, useDeskTexts } from './language.ts'
import { rowClass } from './PagedList.tsx'
import { importsQuery } from './queries.ts'

/** Customers of another panel: a file is previewed, imported, and its progress shown. */
export function ImportView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const words = t.imports
  const [wanted, setWanted] = useState<WantedAct>()
  const [round, setRound] = useState(0)
  const may = mayDo(session.role, 'money')
  return (
    <>
      <BackLink to="/customers" text={words.back} />
      <PageHead title={words.title} sub={words.sub} />
      <div className="grid gap-5">
        {may ? <Upload key={round} onImport={setWanted} /> : null}
        <Imports may={may} onAct={setWanted} />
      </div>
      {wanted ? (
        <ActDialog
          wanted={wanted}
          onClose={() => setWanted(undefined)}
          onDone={() => {
            setWanted(undefined)
            if (wanted.act === 'customers.import') setRound(round + 1)
          }}
        />
      ) : null}
    </>
  )
}

function Upload({ onImport }: { onImport: (act: WantedAct) => void }) {
  const t = useDeskTexts()
  const words = t.imports
  const [file, setFile] = useState<File>()
  const [missing, setMissing] = useState(false)
  const look = useMutation({
    mutationFn: async (chosen: File) =>
      await call(previewCustomerImport, {
        body: { fileName: chosen.name, file: await chosen.text() },
      }),
  })
  const wrong =
    look.error instanceof DeskError
      ? (look.error.fields['file'] ?? look.error.message)
      : look.error?.message
  const error = missing ? words.none : wrong
  return (
    <>
      <Card>
        <form
          noValidate
          className="grid gap-4"
          onSubmit={(event) => {
            event.preventDefault()
            if (file) look.mutate(file)
            else setMissing(true)
          }}
        >
          <Field label={words.file} hint={words.fileHint} error={error}>
            {(control) => (
              <input
                {...control}
                type="file"
                accept=".csv,.tsv,.txt,text/csv"
                className={`${inputClass} h-auto py-2 text-sm`}
                onChange={({ target: { files } }) => {
                  setFile(files?.[0])
                  setMissing(false)
                  look.reset()
                }}
              />
            )}
          </Field>
          <div>
            <Button type="submit" variant={look.data ? 'outline' : 'primary'} busy={look.isPending}>
              {words.look}
            </Button>
          </div>
        </form>
      </Card>
      {look.data ? (
        <Preview
          of={look.data}
          onImport={(upload) =>
            onImport({ act: 'customers.import', about: file?.name ?? '', fixed: { upload } })
          }
        />
      ) : null}
    </>
  )
}

function Preview({ of, onImport }: { of: ImportPreview; onImport: (upload: string) => void }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const words = t.imports
  const { upload, badRows, faults } = of
  const count = (n: number) => formatCount(n, language)
  return (
    <Card title={words.preview} action={<Badge>{words.rows(of.rows)}</Badge>}>
      <div className="grid gap-4" aria-live="polite">
        {badRows > 0 ? (
          <Note tone="danger">
            <p className="font-medium">{words.bad(badRows)}</p>
            <ul className="mt-2 grid gap-1">
              {faults.map(({ line, text }) => (
                <li key={`${line} ${text}`} className="[overflow-wrap:anywhere]">
                  <span className="num font-medium">{words.line(line)}</span> · {text}
                </li>
              ))}
              {badRows > faults.length ? <li>{words.badMore(badRows - faults.length)}</li> : null}
            </ul>
          </Note>
        ) : null}
        {badRows === 0 && of.accounts === 0 ? <Note tone="info">{words.allKnown}</Note> : null}
        {upload !== null && of.needsSecond ? <Note tone="warning">{words.needsSecond}</Note> : null}
        <dl className="num grid gap-x-8 gap-y-2 text-sm sm:grid-cols-2">
          <Fact name={words.accounts} value={count(of.accounts)} />
          {of.sums.map(({ currency, accounts, amount }) => (
            <Fact
              key={currency}
              name={words.balances(currency)}
              value={`${formatMoney(amount, currency, language)} · ${words.ofAccounts(accounts)}`}
            />
          ))}
          <Fact name={words.withoutPhone} value={count(of.withoutPhone)} />
          <Fact name={words.skipped} value={count(of.skipped)} />
        </dl>
        {of.skippedRows.length > 0 ? (
          <ul className="grid gap-1 text-xs text-ink-2">
            {of.skippedRows.map(({ line, email, text }) => (
              <li key={line} className="[overflow-wrap:anywhere]">
                <span className="num">{words.line(line)}</span> · {email} · {text}
              </li>
            ))}
          </ul>
        ) : null}
        {of.ignored.length > 0 ? (
          <p className="text-sm text-ink-2 [overflow-wrap:anywhere]">
            {`${words.ignored}: ${of.ignored.join(', ')}`}
          </p>
        ) : null}
        {upload === null ? null : (
          <div className="flex flex-wrap items-center gap-3">
            <Button onClick={() => onImport(upload)}>{words.start}</Button>
            <span className="text-sm text-ink-2">{words.nothingYet}</span>
          </div>
        )}
      </div>
    </Card>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div className="flex justify-between gap-4 border-b border-border pb-1">
      <dt className="text-ink-2">{name}</dt>
      <dd className="text-right font-medium">{value}</dd>
    </div>
  )
}

function Imports({ may, onAct }: { may: boolean; onAct: (act: WantedAct) => void }) {
  const t = useDeskTexts()
  const words = t.imports
  const { data, error, refetch } = useQuery(importsQuery)
  return (
    <Card title={words.list} padded={false}>
      {error && !data ? (
        <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
      ) : null}
      {(data ?? error) ? null : <SkeletonRows className="p-5" />}
      {data?.length === 0 ? <Empty text={words.empty} icon={UserPlus} /> : null}
      <ul>
        {data?.map((one) => (
          <li key={one.id} className={rowClass}>
            <Import of={one} />
            {may && hasEnded(one) && one.came < one.created ? (
              <Button
                size="sm"
                variant="outline"
                onClick={() =>
                  onAct({
                    act: 'customers.invite',
                    about: one.fileName,
                    fixed: { import: one.id },
                  })
                }
              >
                {t.acts['customers.invite']}
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
    </Card>
  )
}

const hasEnded = ({ doneAt, stoppedAt }: CustomerImport) => doneAt !== null || stoppedAt !== null

function Import({ of }: { of: CustomerImport }) {
  const words = useDeskTexts().imports
  const facts = [
    words.created(of.created),
    ...(of.skipped > 0 ? [words.skippedOf(of.skipped)] : []),
    ...(of.withoutPhone > 0 ? [words.phonesLost(of.withoutPhone)] : []),
    words.written(of.written),
    words.came(of.came, of.created),
  ]
  return (
    <>
      <span className="min-w-0 flex-1 basis-60">
        <span className="block text-sm font-medium [overflow-wrap:anywhere]">{of.fileName}</span>
        <span className="num block text-xs text-ink-3">
          {words.by(of.by, timeOf(of.startedAt))}
        </span>
        <span className="num block text-xs text-ink-2">{facts.join(' · ')}</span>
        {of.stoppedAt === null ? null : (
          <span className="mt-1 block text-xs text-danger">{words.stoppedWhy}</span>
        )}
        {hasEnded(of) ? null : (
          <progress
            className="mt-2 block w-full max-w-sm"
            value={of.done}
            max={of.rows}
            aria-label={words.running}
          />
        )}
      </span>
      <State of={of} />
    </>
  )
}

function State({ of }: { of: CustomerImport }) {
  const words = useDeskTexts().imports
  const progress = words.progress(of.done, of.rows)
  if (of.stoppedAt !== null)
    return (
      <Badge tone="danger" dot>
        {`${words.stopped} · ${progress}`}
      </Badge>
    )
  return (
    <Badge tone={of.doneAt === null ? 'info' : 'success'} dot>
      {of.doneAt === null ? `${words.running} · ${progress}` : words.done}
    </Badge>
  )
}
