import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import {
  switchImport,
  undoImport,
  type Import,
  type ImportPage,
} from '../../contract/wordpress-import.ts'
import type { Server } from '../../contract/wordpress.ts'
import { Attempt, messageOf } from '../api.ts'
import { formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge, type Tone } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Note } from '../ui/State.tsx'
import { cell, headCell, headRow, row } from '../ui/table.ts'
import { toast } from '../ui/toast.ts'
import { Discard } from './MoveInParts.tsx'
import { importQuery } from './site-queries.ts'

const megabyte = 1_048_576

/** The copy beside the server: its facts, the comparison, and the choice to switch or discard. */
export function MoveInReady({ server, current }: { server: Server; current: Import }) {
  const t = useTexts('moveIn')
  const { problem } = current
  return (
    <div className="grid min-w-0 gap-6">
      <div>
        <h4 className="font-semibold">{t.moveIn.ready}</h4>
        <p className="num mt-0.5 text-xs text-ink-3">
          {t.moveIn.readyHint(formatTime(current.expiresAt))}
        </p>
      </div>
      {problem ? (
        <Note tone="danger">{t.moveIn.problem[problem.code]?.(problem.detail)}</Note>
      ) : null}
      <Facts current={current} />
      <Notes current={current} />
      <Pages pages={current.pages ?? []} />
      <div className="flex flex-wrap gap-3 border-t border-border pt-5 max-sm:*:w-full">
        <Switch server={server} current={current} />
        <Discard server={server} current={current} label={t.moveIn.discard} />
      </div>
    </div>
  )
}

function Facts({ current }: { current: Import }) {
  const t = useTexts('moveIn')
  const { diskSize } = useFormat()
  const { found, home, admins } = current
  return (
    <dl className="grid gap-x-10 gap-y-5 text-sm sm:grid-cols-2">
      {found ? <Fact term={t.moveIn.maker}>{t.moveIn.makers[found.maker]}</Fact> : null}
      {home === null || home === '' ? null : <Fact term={t.moveIn.home}>{home}</Fact>}
      {found ? (
        <Fact term={t.moveIn.holds}>
          {t.moveIn.counts(
            found.files,
            diskSize(Math.max(1, Math.round(found.fileBytes / megabyte))),
            found.tables,
            found.rows,
          )}
        </Fact>
      ) : null}
      {found?.version ? <Fact term={t.moveIn.version}>{found.version}</Fact> : null}
      <Fact term={t.moveIn.admins}>
        {admins.length === 0 ? t.moveIn.noAdmins : admins.join(', ')}
        {admins.length === 0 ? null : (
          <span className="mt-0.5 block text-xs font-normal text-ink-3">{t.moveIn.adminsHint}</span>
        )}
      </Fact>
    </dl>
  )
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-ink-3">{term}</dt>
      <dd className="num mt-1 font-medium wrap-anywhere">{children}</dd>
    </div>
  )
}

function Notes({ current }: { current: Import }) {
  const t = useTexts('moveIn')
  const sentences = current.notes.flatMap(({ code, detail }) => {
    const sentence = t.moveIn.note[code]?.(detail)
    return sentence === undefined ? [] : [sentence]
  })
  if (sentences.length === 0) return null
  return (
    <div className="max-w-prose text-sm">
      <h4 className="font-semibold">{t.moveIn.notes}</h4>
      <ul className="mt-2 grid list-disc gap-1 pl-5 wrap-anywhere text-ink-2">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </div>
  )
}

const tones: Record<ImportPage['verdict'], Tone> = {
  same: 'success',
  status: 'danger',
  title: 'warning',
  text: 'warning',
  unknown: 'neutral',
}

function Pages({ pages }: { pages: readonly ImportPage[] }) {
  const t = useTexts('moveIn')
  const known = pages.filter(({ verdict }) => verdict !== 'unknown')
  const same = pages.filter(({ verdict }) => verdict === 'same').length
  const seen = (page: ImportPage['original']): ReactNode =>
    page ? (
      <>
        <span className="num">{page.status}</span>
        <span className="block text-xs wrap-anywhere text-ink-3 max-sm:hidden">{page.title}</span>
      </>
    ) : (
      <span className="text-ink-3">{t.moveIn.none}</span>
    )
  return (
    <div className="min-w-0">
      <h4 id="move-in-pages" className="text-sm font-semibold">
        {t.moveIn.pages}
      </h4>
      {known.length === 0 ? (
        <Note tone="warning" className="mt-2 max-w-prose">
          {t.moveIn.unreachable}
        </Note>
      ) : (
        <p className="num mt-0.5 text-xs text-ink-3">{t.moveIn.pagesHint(same, pages.length)}</p>
      )}
      <div className="-mx-5 mt-3 sm:-mx-6">
        <table aria-labelledby="move-in-pages" className="w-full text-sm">
          <thead>
            <tr className={headRow}>
              <th className={headCell}>{t.moveIn.page}</th>
              <th className={headCell}>{t.moveIn.original}</th>
              <th className={headCell}>{t.moveIn.copy}</th>
              <th className={headCell}>{t.moveIn.result}</th>
            </tr>
          </thead>
          <tbody>
            {pages.map((page) => (
              <tr key={page.path} className={row}>
                <td className={`${cell} font-mono text-xs wrap-anywhere`}>{page.path}</td>
                <td className={cell}>{seen(page.original)}</td>
                <td className={cell}>{seen(page.copy)}</td>
                <td className={cell}>
                  <Badge tone={tones[page.verdict]} dot>
                    {t.moveIn.verdict[page.verdict]}
                  </Badge>
                  {page.likeness === null || page.verdict === 'same' ? null : (
                    <span className="num mt-1 block text-xs text-ink-3">
                      {t.moveIn.likeness(page.likeness)}
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

/** A button that asks first; the call's answer replaces the shown state. */
function Asking({
  label,
  title,
  text,
  variant,
  act,
}: {
  label: string
  title: string
  text: string
  variant: 'primary' | 'danger'
  act: () => Promise<void>
}) {
  const t = useTexts('moveIn')
  const [open, setOpen] = useState(false)
  const [busy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    try {
      await act()
    } catch (failure) {
      toast.error(t.toast.error, messageOf(failure))
    } finally {
      setBusy(false)
      setOpen(false)
    }
  }
  return (
    <>
      <Button variant={variant === 'danger' ? 'outline' : 'primary'} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        busy={busy}
        title={title}
        description={text}
        closeLabel={t.common.close}
        footer={
          <>
            <Button variant="outline" onClick={() => setOpen(false)}>
              {t.common.cancel}
            </Button>
            <Button variant={variant} busy={busy} onClick={() => void run()}>
              {label}
            </Button>
          </>
        }
      />
    </>
  )
}

function Switch({ server, current }: { server: Server; current: Import }) {
  const t = useTexts('moveIn')
  const queryClient = useQueryClient()
  const [attempt] = useState(() => new Attempt())
  return (
    <Asking
      label={t.moveIn.switchOver}
      title={t.moveIn.switchTitle}
      text={t.moveIn.switchText(server.name)}
      variant="primary"
      act={async () => {
        const params = { id: server.id, importId: current.id }
        const next = await attempt.run(switchImport, { params })
        queryClient.setQueryData(importQuery(server.id).queryKey, next)
      }}
    />
  )
}

/** After the switch: the administrators, the next steps, and the undo. */
export function MoveInDone({
  server,
  current,
  onAgain,
}: {
  server: Server
  current: Import
  onAgain: () => void
}) {
  const t = useTexts('moveIn')
  const queryClient = useQueryClient()
  const [attempt] = useState(() => new Attempt())
  const { undoUntil } = current
  const [now] = useState(() => new Date().toISOString())
  const canUndo = undoUntil !== null && undoUntil > now
  return (
    <div className="grid gap-6">
      <Note tone="success">
        <span className="font-semibold">{t.moveIn.done}.</span>{' '}
        {current.switchedAt === null ? null : t.moveIn.doneAt(formatTime(current.switchedAt))}{' '}
        {t.moveIn.next}
      </Note>
      <Facts current={current} />
      <Notes current={current} />
      <div className="grid gap-2 border-t border-border pt-5">
        <div className="flex flex-wrap gap-3 max-sm:*:w-full">
          {canUndo ? (
            <Asking
              label={t.moveIn.undo}
              title={t.moveIn.undoTitle}
              text={t.moveIn.undoText(server.name)}
              variant="danger"
              act={async () => {
                await attempt.run(undoImport, {
                  params: { id: server.id, importId: current.id },
                })
                toast.success(t.toast.success, t.moveIn.undoBegun)
                void queryClient.invalidateQueries({ queryKey: ['import', server.id] })
                void queryClient.invalidateQueries({ queryKey: ['backups', server.id] })
              }}
            />
          ) : null}
          <Button variant="outline" onClick={onAgain}>
            {t.moveIn.again}
          </Button>
        </div>
        {canUndo ? (
          <p className="num text-xs text-ink-3">{t.moveIn.undoUntil(formatTime(undoUntil))}</p>
        ) : null}
      </div>
    </div>
  )
}
