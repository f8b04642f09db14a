import { useEffect, useState, type ReactNode } from 'react'
import { makeFolder, moveFile, removeFile, type SiteFile } from '../../contract/wordpress-files.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, Input, inputClass } from '../ui/Field.tsx'
import { Note, Skeleton } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { TypedDialog } from '../shell/TypedDialog.tsx'
import { fetchFile, joined, keepFile, sendFile } from './file-transfers.ts'

/** The open dialog: a new folder, a rename, a deletion, or a file's text. */
export type FileQuestion =
  | { readonly about: 'folder' }
  | { readonly about: 'rename' | 'remove' | 'edit'; readonly file: SiteFile }

interface DialogProps {
  readonly id: string
  /** The folder that contains it. */
  readonly folder: string
  readonly onClose: () => void
  /** Called after a change. */
  readonly onDone: () => void
}

const sentenceOf = (error: unknown): string =>
  (error instanceof ApiError ? Object.values(error.fields)[0] : undefined) ?? messageOf(error)

export function FileDialog({ question, ...rest }: DialogProps & { question: FileQuestion }) {
  switch (question.about) {
    case 'folder':
      return <NameDialog {...rest} file={null} />
    case 'rename':
      return <NameDialog {...rest} file={question.file} />
    case 'remove':
      return <RemoveDialog {...rest} file={question.file} />
    case 'edit':
      return <EditDialog {...rest} file={question.file} />
  }
}

function NameDialog({
  id,
  folder,
  file,
  onClose,
  onDone,
}: DialogProps & { file: SiteFile | null }) {
  const t = useTexts('parts')
  const [name, setName] = useState(file?.name ?? '')
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const go = async () => {
    setBusy(true)
    setFault(undefined)
    const to = joined(folder, name.trim())
    try {
      if (file)
        await call(moveFile, {
          params: { id },
          body: { path: joined(folder, file.name), to },
        })
      else await call(makeFolder, { params: { id }, body: { path: to } })
      onDone()
      onClose()
    } catch (error) {
      setFault(sentenceOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      open
      busy={busy}
      onClose={onClose}
      title={file ? t.files.renameTitle(file.name) : t.files.newFolder}
      closeLabel={t.common.close}
      footer={
        <Actions
          busy={busy}
          label={file ? t.files.rename : t.files.create}
          disabled={name.trim() === '' || name.includes('/') || name.trim() === file?.name}
          onClose={onClose}
          onGo={() => void go()}
        />
      }
    >
      <Field label={t.files.name} error={fault}>
        {(control) => (
          <Input
            {...control}
            value={name}
            maxLength={255}
            autoCapitalize="none"
            spellCheck={false}
            onChange={({ target }) => setName(target.value)}
          />
        )}
      </Field>
    </Dialog>
  )
}

function RemoveDialog({ id, folder, file, onClose, onDone }: DialogProps & { file: SiteFile }) {
  const t = useTexts('parts')
  const [busy, setBusy] = useState(false)
  const go = async () => {
    setBusy(true)
    try {
      await call(removeFile, { params: { id }, query: { path: joined(folder, file.name) } })
      onDone()
    } catch (error) {
      toast.error(t.toast.error, sentenceOf(error))
    } finally {
      setBusy(false)
      onClose()
    }
  }
  return (
    <Dialog
      open
      busy={busy}
      onClose={onClose}
      title={t.files.removeTitle(file.name)}
      description={file.kind === 'folder' ? t.files.removeFolderText : t.files.removeText}
      closeLabel={t.common.close}
      footer={
        <Actions
          isDanger
          busy={busy}
          label={t.files.remove}
          onClose={onClose}
          onGo={() => void go()}
        />
      }
    />
  )
}

/** Edits text files only; any other file is offered as a download. */
function EditDialog({ id, folder, file, onClose, onDone }: DialogProps & { file: SiteFile }) {
  const t = useTexts('parts')
  const path = joined(folder, file.name)
  /** Null: the file is no text. */
  const [stored, setStored] = useState<string | null>()
  const [blob, setBlob] = useState<Blob>()
  const [text, setText] = useState('')
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    const leaving = new AbortController()
    fetchFile({ id, path, signal: leaving.signal })
      .then(async (found) => {
        setBlob(found)
        try {
          const bytes = await found.arrayBuffer()
          const read = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
          if (read.includes('\0')) throw new TypeError('no text')
          setStored(read)
          setText(read)
        } catch {
          setStored(null)
        }
      })
      .catch((error: unknown) => {
        if (!leaving.signal.aborted) setFault(sentenceOf(error))
      })
    return () => leaving.abort()
  }, [id, path])
  const go = async () => {
    setBusy(true)
    setFault(undefined)
    try {
      await sendFile(new Blob([text]), { id, path, replaces: true })
      toast.success(t.toast.success, t.files.saved(file.name))
      onDone()
      onClose()
    } catch (error) {
      setFault(sentenceOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <TypedDialog
      busy={busy}
      isTyped={typeof stored === 'string' && text !== stored}
      onClose={onClose}
      title={file.name}
      closeLabel={t.common.close}
      {...(typeof stored === 'string' && { size: 'wide' as const })}
      footer={(leave) =>
        stored === null ? (
          <Actions
            label={t.files.download}
            onClose={onClose}
            onGo={() => {
              if (blob) keepFile(blob, file.name)
              onClose()
            }}
          />
        ) : (
          <Actions
            busy={busy}
            label={t.files.save}
            disabled={stored === undefined || text === stored}
            onClose={leave}
            onGo={() => void go()}
          />
        )
      }
    >
      {fault === undefined ? null : (
        <Note tone="danger" role="alert">
          {fault}
        </Note>
      )}
      {stored === undefined && fault === undefined ? (
        <Skeleton className="h-72 rounded-lg" />
      ) : null}
      {stored === null ? <p className="text-sm text-ink-2">{t.files.noText}</p> : null}
      {typeof stored === 'string' ? (
        <textarea
          aria-label={file.name}
          value={text}
          onChange={({ target }) => setText(target.value)}
          spellCheck={false}
          autoCapitalize="none"
          wrap="off"
          className={`${inputClass} mt-2 h-[50vh] resize-y py-2 font-mono text-xs`}
        />
      ) : null}
    </TypedDialog>
  )
}

function Actions({
  label,
  busy = false,
  disabled = false,
  isDanger = false,
  onClose,
  onGo,
}: {
  label: ReactNode
  busy?: boolean
  disabled?: boolean
  isDanger?: boolean
  onClose: () => void
  onGo: () => void
}) {
  const t = useTexts('parts')
  return (
    <>
      <Button variant="outline" disabled={busy} onClick={onClose}>
        {t.common.cancel}
      </Button>
      <Button
        variant={isDanger ? 'danger' : 'primary'}
        busy={busy}
        disabled={disabled}
        onClick={onGo}
      >
        {label}
      </Button>
    </>
  )
}
