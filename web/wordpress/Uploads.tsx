import { X } from 'lucide-react'
import { useTexts } from '../i18n/index.ts'
import { Button, IconButton } from '../ui/Button.tsx'
import { nameOf } from './file-transfers.ts'
import type { useUploads } from './upload-queues.ts'

/** Files being uploaded, each with a button to stop it. */
export function Uploads({ uploads: { queue, all } }: { uploads: ReturnType<typeof useUploads> }) {
  const t = useTexts('parts')
  if (all.length === 0) return null
  return (
    <ul aria-label={t.files.uploads} className="grid gap-2">
      {all.map((one) => {
        const percent = Math.floor((one.sent / Math.max(1, one.file.size)) * 100)
        return (
          <li key={one.key} className="rounded-lg bg-subtle px-4 py-2.5 text-sm">
            <div className="flex items-center gap-3">
              <span className="min-w-0 flex-1 font-medium wrap-anywhere">{nameOf(one.path)}</span>
              {one.state === 'sending' ? (
                <span className="num text-xs text-ink-3">{t.files.percent(percent)}</span>
              ) : null}
              {one.state === 'asking' ? (
                <Button size="sm" onClick={() => queue.replace(one)}>
                  {t.files.replace}
                </Button>
              ) : null}
              <IconButton label={t.files.stop(nameOf(one.path))} onClick={() => queue.end(one.key)}>
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
