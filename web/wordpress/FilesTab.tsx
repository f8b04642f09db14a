import { useQuery, useQueryClient } from '@tanstack/react-query'
import {
  CornerLeftUp,
  Download,
  Ellipsis,
  File,
  Folder,
  FolderPlus,
  Link2,
  Pencil,
  TextCursorInput,
  Trash2,
  Upload,
} from 'lucide-react'
import { useEffect, useRef, useState, type DragEvent } from 'react'
import { mostFileBytes, type SiteFile } from '../../contract/wordpress-files.ts'
import type { Server } from '../../contract/wordpress.ts'
import { messageOf } from '../api.ts'
import { decimals, formatTime, useFormat } from '../format.ts'
import { useTexts, type Language } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Button } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { Menu, type MenuItem } from '../ui/Menu.tsx'
import { Empty, LoadError, Note, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { FileDialog, type FileQuestion } from './FileDialogs.tsx'
import { fetchFile, joined, keepFile, parentOf } from './file-transfers.ts'
import { SftpPart } from './SftpPart.tsx'
import { filesQuery } from './site-queries.ts'
import { useUploads } from './upload-queues.ts'
import { Uploads } from './Uploads.tsx'

/** Larger files are not edited in the browser, bytes. */
const editableBytes = 1_048_576

const sizeOf = (bytes: number, language: Language): string => {
  if (bytes < 1_024) return `${bytes} B`
  if (bytes < 1_048_576) return `${decimals(bytes / 1_024, language)} KB`
  return `${decimals(bytes / 1_048_576, language)} MB`
}

/** Files of the server, in the browser and by SFTP. */
export default function FilesTab({ server }: { server: Server }) {
  return (
    <div className="grid gap-10">
      <Files server={server} />
      {may('servers:write') ? <SftpPart server={server} /> : null}
    </div>
  )
}

/** Lists, uploads, downloads, edits, renames and deletes files. */
function Files({ server }: { server: Server }) {
  const t = useTexts('parts')
  const queryClient = useQueryClient()
  const [folder, setFolder] = useState('')
  const [question, setQuestion] = useState<FileQuestion>()
  const [isOver, setIsOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const { data, isPending, error, refetch } = useQuery(filesQuery(server.id, folder))
  const isRunning = server.status === 'running'
  const mayWrite = may('servers:write')
  const again = () => void queryClient.invalidateQueries({ queryKey: ['files', server.id] })
  const uploads = useUploads(server.id)
  const names = new Set(data?.entries.map(({ name }) => name))
  const begin = (files: Iterable<globalThis.File>) => {
    for (const file of files)
      if (file.size > mostFileBytes) toast.error(t.toast.error, t.files.tooLarge(file.name))
      else {
        const path = joined(folder, file.name)
        uploads.queue.add({ file, path, onDone: again }, names.has(file.name))
      }
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    if (isRunning && mayWrite) begin(event.dataTransfer.files)
  }
  return (
    <section aria-labelledby="files" className="grid gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h3 id="files" className="text-sm font-semibold">
          {t.files.title}
        </h3>
        <div className="flex flex-wrap gap-2">
          <Button
            variant="outline"
            shown={mayWrite}
            disabled={!isRunning}
            onClick={() => setQuestion({ about: 'folder' })}
          >
            <FolderPlus aria-hidden className="size-4" />
            {t.files.newFolder}
          </Button>
          <Button shown={mayWrite} disabled={!isRunning} onClick={() => input.current?.click()}>
            <Upload aria-hidden className="size-4" />
            {t.files.upload}
          </Button>
          <input
            ref={input}
            type="file"
            multiple
            hidden
            aria-label={t.files.upload}
            onChange={({ target }) => {
              begin(target.files ?? [])
              target.value = ''
            }}
          />
        </div>
      </div>
      <Way folder={folder} onOpen={setFolder} />
      {isRunning ? null : <Note tone="info">{t.files.closed}</Note>}
      <Uploads uploads={uploads} />
      {isPending ? <SkeletonRows rows={6} /> : null}
      {error && !data ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {data ? (
        // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
        <div
          onDragOver={(event) => {
            event.preventDefault()
            setIsOver(mayWrite)
          }}
          onDragLeave={() => setIsOver(false)}
          onDrop={drop}
          className={cx(
            'rounded-lg shadow-[inset_0_0_0_1px_var(--border)]',
            isOver && 'bg-primary-soft',
          )}
        >
          {data.entries.length === 0 ? <Empty text={t.files.empty} /> : null}
          <ul aria-label={t.files.title} className="divide-y divide-border">
            {folder === '' ? null : (
              <li>
                <button
                  type="button"
                  onClick={() => setFolder(parentOf(folder))}
                  className="flex h-11 w-full items-center gap-3 px-4 text-sm text-ink-2"
                >
                  <CornerLeftUp aria-hidden className="size-4 text-ink-3" />
                  {t.files.up}
                </button>
              </li>
            )}
            {data.entries.map((file) => (
              <Row
                key={file.name}
                id={server.id}
                file={file}
                path={joined(folder, file.name)}
                mayChange={isRunning && mayWrite}
                onOpen={setFolder}
                onAsk={setQuestion}
              />
            ))}
          </ul>
        </div>
      ) : null}
      {data && !data.isWhole ? <Note tone="info">{t.files.notWhole}</Note> : null}
      {question ? (
        <FileDialog
          id={server.id}
          folder={folder}
          question={question}
          onClose={() => setQuestion(undefined)}
          onDone={again}
        />
      ) : null}
    </section>
  )
}

/** The path of the open folder: each folder in it is a link. */
function Way({ folder, onOpen }: { folder: string; onOpen: (folder: string) => void }) {
  const t = useTexts('parts')
  const here = useRef<HTMLSpanElement>(null)
  const shown = useRef(folder)
  useEffect(() => {
    if (shown.current === folder) return
    shown.current = folder
    // The pressed button disappeared with its folder.
    here.current?.focus()
  }, [folder])
  const names = folder.split('/').filter((name) => name !== '')
  const steps = [
    { name: t.files.root, path: '' },
    ...names.map((name, index) => ({ name, path: names.slice(0, index + 1).join('/') })),
  ]
  return (
    <nav aria-label={t.files.way}>
      <ol className="flex flex-wrap items-center gap-x-1 gap-y-1 text-sm">
        {steps.map(({ name, path }, index) => (
          <li key={path} className="flex min-w-0 items-center gap-1">
            {index > 0 ? (
              <span aria-hidden className="text-ink-3">
                /
              </span>
            ) : null}
            {index === steps.length - 1 ? (
              <span
                ref={here}
                tabIndex={-1}
                aria-current="page"
                className="font-medium wrap-anywhere"
              >
                {name}
              </span>
            ) : (
              <button
                type="button"
                onClick={() => onOpen(path)}
                className="min-h-6 wrap-anywhere text-primary-ink hover:underline"
              >
                {name}
              </button>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}

const icons = { file: File, folder: Folder, link: Link2, other: File } as const

function Row({
  id,
  file,
  path,
  mayChange,
  onOpen,
  onAsk,
}: {
  id: string
  file: SiteFile
  path: string
  mayChange: boolean
  onOpen: (folder: string) => void
  onAsk: (question: FileQuestion) => void
}) {
  const t = useTexts('parts')
  const { language } = useFormat()
  const [share, setShare] = useState<number>()
  const Icon = icons[file.kind]
  const download = async () => {
    setShare(0)
    try {
      const blob = await fetchFile({
        id,
        path,
        onProgress: (bytes) => setShare(bytes / Math.max(1, file.bytes)),
      })
      keepFile(blob, file.name)
    } catch (error) {
      toast.error(t.toast.error, messageOf(error))
    } finally {
      setShare(undefined)
    }
  }
  const mayEdit = mayChange && file.kind === 'file' && file.bytes <= editableBytes
  const change: MenuItem[] = [
    {
      label: t.files.rename,
      icon: TextCursorInput,
      onSelect: () => onAsk({ about: 'rename', file }),
    },
    {
      label: t.files.remove,
      icon: Trash2,
      danger: true,
      onSelect: () => onAsk({ about: 'remove', file }),
    },
  ]
  const items: MenuItem[] = [
    ...(mayEdit
      ? [{ label: t.files.edit, icon: Pencil, onSelect: () => onAsk({ about: 'edit', file }) }]
      : []),
    ...(file.kind === 'file' && may('servers:write')
      ? [{ label: t.files.download, icon: Download, onSelect: () => void download() }]
      : []),
    ...(mayChange ? change : []),
  ]
  const press = {
    folder: () => onOpen(path),
    file: !may('servers:write')
      ? undefined
      : () => (mayEdit ? onAsk({ about: 'edit', file }) : void download()),
    link: undefined,
    other: undefined,
  }[file.kind]
  const name = (
    <>
      <Icon
        aria-hidden
        className={cx(
          'size-4 shrink-0',
          file.kind === 'folder' ? 'text-primary-ink' : 'text-ink-3',
        )}
      />
      <span className="min-w-0 py-2 text-left wrap-anywhere">
        {file.name}
        {file.kind === 'link' ? (
          <span className="ml-2 text-xs text-ink-3">{t.files.link}</span>
        ) : null}
      </span>
    </>
  )
  return (
    <li className="flex min-h-11 items-center gap-3 pr-2 pl-4 text-sm hover:bg-subtle/60">
      {press ? (
        <button
          type="button"
          onClick={press}
          className="flex min-h-11 min-w-0 flex-1 items-center gap-3"
        >
          {name}
        </button>
      ) : (
        <span className="flex min-w-0 flex-1 items-center gap-3">{name}</span>
      )}
      <span className="num w-20 shrink-0 text-right text-xs text-ink-3">
        {file.kind === 'file' ? sizeOf(file.bytes, language) : ''}
        {share === undefined ? null : <output> {t.files.percent(Math.floor(share * 100))}</output>}
      </span>
      <time className="num w-32 shrink-0 text-right text-xs text-ink-3 max-sm:hidden">
        {formatTime(file.changedAt).slice(0, 16)}
      </time>
      {items.length > 0 ? (
        <Menu
          label={t.files.actions(file.name)}
          trigger={<Ellipsis aria-hidden className="size-4" />}
          className="grid size-9 shrink-0 place-items-center rounded-md text-ink-3 hover:bg-subtle"
          items={items}
        />
      ) : (
        <span className="size-9 shrink-0" />
      )}
    </li>
  )
}
