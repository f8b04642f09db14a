import { useQueryClient } from '@tanstack/react-query'
import { FileUp } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import {
  beginImport,
  buildImport,
  mostFiles,
  type Import,
} from '../../contract/wordpress-import.ts'
import type { Server } from '../../contract/wordpress.ts'
import { ApiError, Attempt, messageOf } from '../api.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { Field, Input } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { Discard, Progress } from './MoveInParts.tsx'
import { importQuery } from './site-queries.ts'
import { inOrder, uploadFiles } from './upload-pieces.ts'

const megabyte = 1_048_576

/** Choosing and uploading the files; `begun`: an upload that another page load began. */
export function MoveInUpload({
  server,
  begun,
  onBegun,
}: {
  server: Server
  begun: Import | null
  onBegun: () => void
}) {
  const t = useTexts('moveIn')
  const queryClient = useQueryClient()
  const { diskSize } = useFormat()
  const [attempt] = useState(() => new Attempt())
  const [files, setFiles] = useState<readonly File[]>([])
  const [origin, setOrigin] = useState('')
  const [fields, setFields] = useState<Record<string, string>>({})
  /** Bytes that have arrived; null: no upload is running. */
  const [arrived, setArrived] = useState<number | null>(null)
  const [waiting, setWaiting] = useState(false)
  const abort = useRef<AbortController>(null)
  useEffect(() => () => abort.current?.abort(), [])
  const sizeOf = (bytes: number): string => diskSize(Math.max(1, Math.round(bytes / megabyte)))
  const total = (begun?.files ?? files.map(({ size }) => ({ bytes: size }))).reduce(
    (sum, { bytes }) => sum + bytes,
    0,
  )

  const run = async (chosen: readonly File[]) => {
    setFields({})
    const controller = new AbortController()
    abort.current = controller
    try {
      const current =
        begun ??
        (await attempt.run(beginImport, {
          params: { id: server.id },
          body: {
            files: chosen.map(({ name, size }) => ({ name, bytes: size })),
            ...(origin.trim() === '' ? {} : { origin }),
          },
        }))
      const ordered = inOrder(current.files, chosen)
      if (!ordered) return setFields({ files: t.moveIn.otherFiles })
      setArrived(current.files.reduce((sum, { received }) => sum + received, 0))
      queryClient.setQueryData(importQuery(server.id).queryKey, current)
      onBegun()
      await uploadFiles(server.id, current, ordered, {
        signal: controller.signal,
        onProgress: setArrived,
        onWaiting: setWaiting,
      })
      const building = await attempt.run(buildImport, {
        params: { id: server.id, importId: current.id },
      })
      queryClient.setQueryData(importQuery(server.id).queryKey, building)
    } catch (failure) {
      if (controller.signal.aborted) return
      if (failure instanceof ApiError && Object.keys(failure.fields).length > 0)
        setFields(failure.fields)
      else toast.error(t.moveIn.failedUpload, messageOf(failure))
      void queryClient.invalidateQueries({ queryKey: ['import', server.id] })
    } finally {
      setArrived(null)
      setWaiting(false)
    }
  }

  if (arrived !== null)
    return (
      <div className="grid max-w-xl gap-4">
        <Progress
          label={t.moveIn.uploading}
          aside={t.moveIn.uploaded(sizeOf(arrived), sizeOf(total))}
          share={total === 0 ? 0 : arrived / total}
        />
        <output className="text-xs text-ink-3">
          {waiting ? t.moveIn.waiting : t.moveIn.keepOpen}
        </output>
        {begun ? (
          <Discard
            server={server}
            current={begun}
            label={t.moveIn.cancel}
            onDiscarded={() => abort.current?.abort()}
          />
        ) : null}
      </div>
    )
  const problem = Object.entries(fields).find(([name]) => name.startsWith('files'))?.[1]
  return (
    <form
      className="grid max-w-xl gap-5"
      onSubmit={(event) => {
        event.preventDefault()
        void run(files)
      }}
    >
      {begun ? (
        <Progress
          label={t.moveIn.goOn(
            sizeOf(begun.files.reduce((sum, { received }) => sum + received, 0)),
            sizeOf(total),
          )}
          share={begun.files.reduce((sum, { received }) => sum + received, 0) / total}
        />
      ) : null}
      <Field
        label={t.moveIn.files}
        hint={begun ? t.moveIn.goOnHint : t.moveIn.filesHint}
        error={problem}
      >
        {(control) => <Choose control={control} files={files} onFiles={setFiles} sizeOf={sizeOf} />}
      </Field>
      {begun ? null : (
        <Field
          label={t.moveIn.origin}
          aside={t.moveIn.optional}
          hint={t.moveIn.originHint}
          error={fields['origin']}
        >
          {(control) => (
            <Input
              {...control}
              type="text"
              inputMode="url"
              autoComplete="url"
              placeholder="https://www.example.com"
              maxLength={300}
              value={origin}
              onChange={(event) => setOrigin(event.target.value)}
            />
          )}
        </Field>
      )}
      <div className="flex flex-wrap gap-3">
        <Button type="submit" disabled={files.length === 0} className="max-sm:w-full">
          <FileUp aria-hidden className="size-4" />
          {t.moveIn.upload}
        </Button>
        {begun ? <Discard server={server} current={begun} label={t.moveIn.cancel} /> : null}
      </div>
      {begun ? null : <Readable />}
    </form>
  )
}

function Choose({
  control,
  files,
  onFiles,
  sizeOf,
}: {
  control: { id: string }
  files: readonly File[]
  onFiles: (files: readonly File[]) => void
  sizeOf: (bytes: number) => string
}) {
  const t = useTexts('moveIn')
  const input = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const take = (list: FileList | null) => onFiles([...(list ?? [])].slice(0, mostFiles))
  return (
    <div
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer.files)
      }}
      className={cx(
        'rounded-lg border border-dashed border-control p-4',
        over && 'bg-primary-soft',
      )}
    >
      <input
        {...control}
        ref={input}
        type="file"
        multiple
        className="sr-only"
        onChange={(event) => take(event.target.files)}
      />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button variant="outline" onClick={() => input.current?.click()}>
          {t.moveIn.choose}
        </Button>
        <span className={cx('num text-xs text-ink-3', files.length === 0 && 'max-sm:hidden')}>
          {files.length === 0
            ? t.moveIn.drop
            : t.moveIn.chosen(files.length, sizeOf(files.reduce((sum, { size }) => sum + size, 0)))}
        </span>
      </div>
      {files.length > 0 ? (
        <ul className="mt-3 grid gap-1 text-sm">
          {files.map((file) => (
            <li key={file.name} className="flex justify-between gap-3">
              <span className="min-w-0 wrap-anywhere">{file.name}</span>
              <span className="num shrink-0 text-ink-3">{sizeOf(file.size)}</span>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  )
}

function Readable() {
  const t = useTexts('moveIn')
  return (
    <div className="border-t border-border pt-5 text-sm">
      <h4 className="font-semibold">{t.moveIn.reads}</h4>
      <ul className="mt-2 grid list-disc gap-1 pl-5 text-ink-2">
        {t.moveIn.readsList.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
      <p className="mt-3 text-xs text-ink-3">{t.moveIn.readsNot}</p>
    </div>
  )
}
