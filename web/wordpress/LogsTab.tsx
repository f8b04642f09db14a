import { ArrowDown, Download, Eraser, Pause, Play, Search, WrapText } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Server } from '../../contract/wordpress.ts'
import { useTexts } from '../i18n/index.ts'
import { fold } from '../../contract/fold.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button, IconButton } from '../ui/Button.tsx'
import { Input } from '../ui/Field.tsx'
import { Note } from '../ui/State.tsx'
import { ringSize, shownSource, type LogLine } from './log-ring.ts'
import { LogLines } from './LogLines.tsx'
import { useLogStream, type LogStream } from './log-stream.ts'

const announceEveryMs = 5000

export default function LogsTab({ server }: { server: Server }) {
  const t = useTexts('site', 'parts')
  const open = server.status === 'running'
  const stream = useLogStream(server.id, open)
  if (!open) return <p className="py-10 text-center text-sm text-ink-3">{t.logs.notRunning}</p>
  return <LogView stream={stream} name={server.name} />
}

function LogView({ stream, name }: { stream: LogStream; name: string }) {
  const t = useTexts('site', 'parts')
  const [query, setQuery] = useState('')
  // A phone shows little more than the time of an unwrapped line.
  const [wrap, setWrap] = useState(() => matchMedia('(width < 40rem)').matches)
  const [follow, setFollow] = useState(true)
  /** While paused: the lines of that moment. */
  const [frozen, setFrozen] = useState<readonly LogLine[]>()

  const lines = frozen ?? stream.lines
  const shown = useMemo(() => {
    const wanted = fold(query.trim())
    return wanted === ''
      ? lines
      : lines.filter((line) => fold(`${shownSource(line.source)} ${line.text}`).includes(wanted))
  }, [lines, query])
  const newest = stream.lines.at(-1)?.number ?? -1
  const [seen, setSeen] = useState(-1)
  const watching = follow && frozen === undefined
  if (watching && seen !== newest) setSeen(newest)
  const unseen = watching ? 0 : Math.max(0, newest - seen)

  const resume = () => {
    setFrozen(undefined)
    setFollow(true)
  }
  const download = () => {
    // The file keeps the server's times in UTC, because it could not say which other zone they are
    // in.
    const text = lines.map((line) => `${line.source} ${line.text}`).join('\n')
    const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `${name}.log`
    link.click()
    setTimeout(() => URL.revokeObjectURL(url), 1000)
  }

  return (
    <div className="grid grid-cols-1 gap-3">
      {stream.failedUrl === undefined ? null : (
        <Note tone="danger" role="alert" className="break-all">
          {stream.refusal ?? t.logs.failed(stream.failedUrl)}
        </Note>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <StateBadge stream={stream} paused={frozen !== undefined} />
        <span className="relative min-w-0 flex-1 max-sm:order-last max-sm:basis-full">
          <Search aria-hidden className="absolute top-2.5 left-3 size-4 text-ink-3" />
          <Input
            type="search"
            aria-label={t.logs.search}
            placeholder={t.logs.search}
            value={query}
            onChange={(event) => setQuery(event.target.value)}
            className="h-9 pl-9"
          />
        </span>
        {query.trim() === '' ? null : (
          // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
          <span role="status" className="num text-xs text-ink-3">
            {t.logs.matches(shown.length)}
          </span>
        )}
        <span className="flex items-center gap-1 max-sm:ml-auto">
          <IconButton
            label={frozen ? t.logs.resume : t.logs.pause}
            aria-pressed={frozen !== undefined}
            onClick={() => (frozen ? resume() : setFrozen(stream.lines))}
          >
            {frozen ? (
              <Play aria-hidden className="size-4" />
            ) : (
              <Pause aria-hidden className="size-4" />
            )}
          </IconButton>
          <IconButton
            label={t.logs.wrap}
            aria-pressed={wrap}
            className={wrap ? 'bg-primary-soft text-primary-ink' : ''}
            onClick={() => setWrap(!wrap)}
          >
            <WrapText aria-hidden className="size-4" />
          </IconButton>
          <IconButton label={t.logs.clear} onClick={stream.clear}>
            <Eraser aria-hidden className="size-4" />
          </IconButton>
          <IconButton label={t.logs.download} disabled={lines.length === 0} onClick={download}>
            <Download aria-hidden className="size-4" />
          </IconButton>
        </span>
      </div>
      <div className="relative">
        <LogLines
          key={wrap ? 'wrapped' : 'plain'}
          lines={shown}
          wrap={wrap}
          follow={watching}
          onFollow={setFollow}
          empty={query.trim() === '' ? t.logs.none : t.logs.noMatch}
        />
        {unseen > 0 ? (
          <Button
            size="sm"
            onClick={resume}
            className="num absolute bottom-4 left-1/2 -translate-x-1/2 rounded-full shadow-pop"
          >
            <ArrowDown aria-hidden className="size-4" />
            {t.logs.newLines(unseen)}
          </Button>
        ) : null}
      </div>
      {stream.dropped > 0 ? (
        <p className="num text-xs text-ink-3">{t.logs.dropped(ringSize)}</p>
      ) : null}
      <Announcer unseen={unseen} />
    </div>
  )
}

function StateBadge({ stream, paused }: { stream: LogStream; paused: boolean }) {
  const t = useTexts('site', 'parts')
  if (paused) return <Badge dot>{t.logs.paused}</Badge>
  if (stream.state === 'live') {
    return (
      <Badge tone="success" dot live>
        {t.logs.live}
      </Badge>
    )
  }
  if (stream.state === 'stopped') return null
  return (
    <Badge tone="warning" dot live>
      {stream.state === 'reconnecting' ? t.logs.reconnecting : t.logs.connecting}
    </Badge>
  )
}

/** A screen reader announces the number of new lines, not each of them. */
function Announcer({ unseen }: { unseen: number }) {
  const t = useTexts('site', 'parts')
  const [announcement, setAnnouncement] = useState('')
  const latest = useRef(unseen)
  useEffect(() => {
    latest.current = unseen
  }, [unseen])
  useEffect(() => {
    const timer = setInterval(
      () => setAnnouncement(latest.current > 0 ? t.logs.newLines(latest.current) : ''),
      announceEveryMs,
    )
    return () => clearInterval(timer)
  }, [t])
  return (
    <p aria-live="polite" className="sr-only">
      {announcement}
    </p>
  )
}
