import { useQueryClient } from '@tanstack/react-query'
import { FileUp } from 'lucide-react'
import { useRef, useState } from 'react'
import type { Domain } from '../../contract/dns.ts'
import { importZone, type ImportPlan, type RecordState } from '../../contract/dns-changes.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { useDraft } from '../drafts.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge, type Tone } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Field, inputClass } from '../ui/Field.tsx'
import { Segmented } from '../ui/Segmented.tsx'
import { Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { TypedDialog } from '../shell/TypedDialog.tsx'
import { recordLine } from './wording.ts'

/** The call's own limit: 1 MiB of text. */
const maxBytes = 1_048_576
const shown = 8

type Mode = 'merge' | 'sets' | 'replace'

/** A zone file is imported only after the customer has seen what it changes. */
export default function ImportDialog({ domain, onClose }: { domain: Domain; onClose: () => void }) {
  const t = useTexts('dns', 'dnsParts')
  const queryClient = useQueryClient()
  const [content, setContent] = useDraft('zone file', '')
  const [mode, setMode] = useState<Mode>('merge')
  const [plan, setPlan] = useState<ImportPlan>()
  const [complaint, setComplaint] = useState<string>()
  const [busy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  /** The name of the file that the text came from, while there is any text. */
  const [fileName, setFileName] = useState('')

  const edit = (text: string) => {
    setContent(text)
    setPlan(undefined)
    setComplaint(undefined)
  }
  const choose = async (file: File | undefined) => {
    if (!file) return
    if (file.size > maxBytes) setComplaint(t.zone.tooLarge)
    else {
      edit(await file.text())
      setFileName(file.name)
    }
  }
  const send = async (preview: boolean) => {
    setBusy(true)
    setComplaint(undefined)
    try {
      const answer = await call(importZone, {
        params: { id: domain.id },
        body: { content, mode, preview },
      })
      if (preview) setPlan(answer)
      else {
        toast.success(t.toast.success, t.zone.applied)
        void queryClient.invalidateQueries({ queryKey: ['dns'] })
        onClose()
      }
    } catch (error) {
      const fields = error instanceof ApiError ? Object.values(error.fields) : []
      setComplaint(fields.length > 0 ? fields.join('\n') : messageOf(error))
      if (!preview) toast.error(t.toast.error, t.zone.failed)
    } finally {
      setBusy(false)
    }
  }
  const count = plan ? plan.added.length + plan.changed.length + plan.removed.length : 0

  return (
    <TypedDialog
      onClose={onClose}
      busy={busy}
      isTyped={content.trim() !== ''}
      title={t.zone.importTitle}
      description={t.zone.importText}
      closeLabel={t.common.close}
      footer={(leave) => (
        <>
          <Button variant="outline" onClick={leave}>
            {t.common.cancel}
          </Button>
          {plan && count > 0 ? (
            <Button busy={busy} onClick={() => void send(false)}>
              {t.zone.apply(count)}
            </Button>
          ) : (
            <Button busy={busy} disabled={content.trim() === ''} onClick={() => void send(true)}>
              {t.zone.preview}
            </Button>
          )}
        </>
      )}
    >
      <div className="grid gap-4">
        <Field
          label={t.zone.content}
          error={
            complaint === undefined ? undefined : (
              <span className="whitespace-pre-line">{complaint}</span>
            )
          }
        >
          {(control) => (
            <textarea
              {...control}
              className={`${inputClass} h-44 resize-y py-2 font-mono text-xs whitespace-pre`}
              value={content}
              spellCheck={false}
              onChange={(event) => edit(event.target.value)}
            />
          )}
        </Field>
        <div className="flex flex-wrap items-center gap-3">
          {/* The file input's native button would use the browser's language. */}
          <input
            ref={input}
            type="file"
            hidden
            aria-label={t.zone.file}
            accept=".zone,.txt,.db,text/plain"
            onChange={({ target }) => {
              void choose(target.files?.[0])
              target.value = ''
            }}
          />
          <Button variant="outline" onClick={() => input.current?.click()}>
            <FileUp aria-hidden className="size-4" />
            {t.zone.file}
          </Button>
          {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
          <span role="status" className="min-w-0 text-sm wrap-anywhere text-ink-2">
            {content === '' ? '' : fileName}
          </span>
        </div>
        <div>
          <p className="mb-1.5 text-sm font-medium">{t.zone.mode}</p>
          <Segmented
            label={t.zone.mode}
            value={mode}
            options={[
              { value: 'merge', label: t.zone.merge },
              { value: 'sets', label: t.zone.sets },
              { value: 'replace', label: t.zone.replace },
            ]}
            onChange={(value: Mode) => {
              setMode(value)
              setPlan(undefined)
            }}
          />
          <p className="mt-1.5 text-xs text-ink-3">{t.zone.modeHints[mode]}</p>
        </div>
        <div aria-live="polite" className="grid gap-3">
          {plan && count === 0 ? <Note tone="info">{t.zone.nothing}</Note> : null}
          {plan ? (
            <>
              <Lines tone="success" label={t.zone.added} lines={plan.added.map(lineWithTtl)} />
              <Lines
                tone="warning"
                label={t.zone.changed}
                lines={plan.changed.map(
                  ({ before, after }) => `${lineWithTtl(before)} → ${lineWithTtl(after)}`,
                )}
              />
              <Lines tone="danger" label={t.zone.removed} lines={plan.removed.map(recordLine)} />
              <p className="text-xs text-ink-3">{t.zone.unchanged(plan.unchanged)}</p>
              {plan.adjusted.length > 0 ? (
                <Note tone="warning">
                  <p className="font-medium">{t.zone.adjusted(plan.adjusted.length)}</p>
                  <ul
                    className="mt-1 grid max-h-40 gap-1 overflow-y-auto text-xs"
                    // A scrolling area must be reachable by keyboard.
                    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
                    tabIndex={0}
                    aria-label={t.zone.adjusted(plan.adjusted.length)}
                  >
                    {plan.adjusted.map(({ line, text }) => (
                      <li key={line} className="wrap-anywhere">
                        {text}
                      </li>
                    ))}
                  </ul>
                </Note>
              ) : null}
              {plan.skipped.length > 0 ? (
                <p className="text-xs text-ink-3">
                  {t.zone.skipped(plan.skipped.map(({ line }) => line).join(', '))}
                </p>
              ) : null}
            </>
          ) : null}
        </div>
      </div>
    </TypedDialog>
  )
}

const lineWithTtl = (state: RecordState): string => `${recordLine(state)} (${state.ttl})`

function Lines({ tone, label, lines }: { tone: Tone; label: string; lines: readonly string[] }) {
  const t = useTexts('dns', 'dnsParts')
  if (lines.length === 0) return null
  return (
    <div>
      <Badge tone={tone}>
        {label} {lines.length}
      </Badge>
      <ul className="mt-1.5 grid gap-1 font-mono text-xs">
        {lines.slice(0, shown).map((line, index) => (
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index} className="rounded-md bg-subtle px-2.5 py-1 break-all">
            {line}
          </li>
        ))}
      </ul>
      {lines.length > shown ? (
        <p className="mt-1 text-xs text-ink-3">{t.zone.moreRows(lines.length - shown)}</p>
      ) : null}
    </div>
  )
}
