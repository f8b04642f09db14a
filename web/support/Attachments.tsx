import { Paperclip, X } from 'lucide-react'
import { useRef, useState } from 'react'
import type { TicketFile } from '../../contract/tickets.ts'
import { messageOf } from '../api.ts'
import { Button, IconButton } from '../ui/Button.tsx'
import { faultOf, uploadFile, useSupportTexts } from './support.ts'

interface AttachmentsProps {
  files: readonly TicketFile[]
  onChange: (change: (now: readonly TicketFile[]) => readonly TicketFile[]) => void
  error?: string | undefined
}

/** Files for the next message, uploaded as soon as they are chosen. */
export function Attachments({ files, onChange, error }: AttachmentsProps) {
  const t = useSupportTexts()
  const input = useRef<HTMLInputElement>(null)
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState('')
  const add = async (chosen: readonly File[]) => {
    const wrong = faultOf(chosen, files.length, t)
    setFault(wrong ?? '')
    if (wrong !== undefined) return
    setBusy(true)
    try {
      for (const file of chosen) {
        const uploaded = await uploadFile(file)
        onChange((now) => [...now, uploaded])
      }
    } catch (failure) {
      setFault(messageOf(failure))
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="grid gap-2">
      {files.length > 0 ? (
        <ul aria-label={t.files} className="flex flex-wrap gap-2">
          {files.map(({ id, name }) => (
            <li
              key={id}
              className="flex max-w-full items-center gap-1 rounded-md bg-subtle pl-3 text-sm"
            >
              <span className="min-w-0 py-1 wrap-anywhere">{name}</span>
              <IconButton
                label={t.detach(name)}
                onClick={() => onChange((now) => now.filter((one) => one.id !== id))}
              >
                <X aria-hidden className="size-4" />
              </IconButton>
            </li>
          ))}
        </ul>
      ) : null}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <input
          ref={input}
          type="file"
          multiple
          tabIndex={-1}
          aria-label={t.attach}
          className="sr-only"
          onChange={({ target }) => {
            void add([...(target.files ?? [])])
            target.value = ''
          }}
        />
        <Button
          variant="outline"
          size="sm"
          busy={busy}
          aria-label={busy ? t.uploading : undefined}
          onClick={() => input.current?.click()}
        >
          <Paperclip aria-hidden className="size-4" />
          {t.attach}
        </Button>
        <span className="text-xs text-ink-3">{t.attachHint}</span>
      </div>
      {fault || error ? (
        <p role="alert" className="text-xs font-medium text-danger">
          {fault || error}
        </p>
      ) : null}
    </div>
  )
}
