import { X } from 'lucide-react'
import { useRef, useState } from 'react'
import { ApiError, messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button, IconButton } from '../ui/Button.tsx'
import { nameOf, sendFile } from './file-transfers.ts'

interface OneUpload {
  readonly key: number
  readonly file: globalThis.File
  readonly path: string
  /** `asking`: whether the file that is there gives way. */
  readonly state: 'asking' | 'waiting' | 'sending' | 'failed'
  readonly sent: number
  readonly fault?: string
}

/** Files on their way up, one after the other. What is done is in the list of files. */
export function useUploads(id: string, onDone: () => void) {
  const [all, setAll] = useState<readonly OneUpload[]>([])
  const line = useRef<Promise<void>>(Promise.resolve())
  const count = useRef(0)
  const leaving = useRef(new Map<number, AbortController>())
  const change = (key: number, to: Partial<OneUpload> | null) =>
    setAll((now) =>
      now.flatMap((one) => {
        if (one.key !== key) return [one]
        return to === null ? [] : [{ ...one, ...to }]
      }),
    )
  const send = (
    { key, file, path }: Pick<OneUpload, 'key' | 'file' | 'path'>,
    replaces: boolean,
  ) => {
    const stop = new AbortController()
    leaving.current.set(key, stop)
    change(key, { state: 'waiting' })
    line.current = line.current.then(async () => {
      if (stop.signal.aborted) return
      change(key, { state: 'sending' })
      try {
        await sendFile(file, {
          id,
          path,
          replaces,
          signal: stop.signal,
          onProgress: (sent) => change(key, { sent }),
        })
        change(key, null)
        onDone()
      } catch (error) {
        if (stop.signal.aborted) return
        const fault = error instanceof ApiError ? Object.values(error.fields)[0] : undefined
        change(key, { state: 'failed', fault: fault ?? messageOf(error) })
      }
    })
  }
  return {
    all,
    add(file: globalThis.File, path: string, isThere: boolean) {
      count.current += 1
      const one = { key: count.current, file, path, sent: 0 }
      setAll((now) => [...now, { ...one, state: isThere ? 'asking' : 'waiting' }])
      if (!isThere) send(one, false)
    },
    replace: (one: OneUpload) => send(one, true),
    end(key: number) {
      leaving.current.get(key)?.abort()
      change(key, null)
    },
  }
}

export function Uploads({ uploads }: { uploads: ReturnType<typeof useUploads> }) {
  const t = useTexts('parts')
  if (uploads.all.length === 0) return null
  return (
    <ul aria-label={t.files.uploads} className="grid gap-2">
      {uploads.all.map((one) => {
        const percent = Math.floor((one.sent / Math.max(1, one.file.size)) * 100)
        return (
          <li key={one.key} className="rounded-lg bg-subtle px-4 py-2.5 text-sm">
            <div className="flex items-center gap-3">
              <span className="min-w-0 flex-1 font-medium break-all">{nameOf(one.path)}</span>
              {one.state === 'sending' ? (
                <span className="num text-xs text-ink-3">{t.files.percent(percent)}</span>
              ) : null}
              {one.state === 'asking' ? (
                <Button size="sm" onClick={() => uploads.replace(one)}>
                  {t.files.replace}
                </Button>
              ) : null}
              <IconButton
                label={t.files.stop(nameOf(one.path))}
                onClick={() => uploads.end(one.key)}
              >
                <X aria-hidden className="size-4" />
              </IconButton>
            </div>
            {one.state === 'asking' ? (
              <p className="text-xs text-warning">{t.files.there}</p>
            ) : null}
            {one.state === 'failed' ? (
              <p role="alert" className="text-xs text-danger">
                {one.fault}
              </p>
            ) : null}
            {one.state === 'sending' ? (
              <progress
                aria-label={t.files.sending(nameOf(one.path))}
                max={100}
                value={percent}
                className="mt-1.5 block h-1.5 w-full accent-primary"
              />
            ) : null}
          </li>
        )
      })}
    </ul>
  )
}
