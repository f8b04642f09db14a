import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Import } from '../../contract/wordpress-import.ts'
import type { Server } from '../../contract/wordpress.ts'
import { messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { MoveInDone, MoveInReady } from './MoveInReady.tsx'
import { Discard, Progress } from './MoveInParts.tsx'
import { MoveInUpload } from './MoveInUpload.tsx'
import { importQuery } from './site-queries.ts'

/** Imports a website from another host: upload, copy, compare, switch. */
export default function MoveInTab({ server }: { server: Server }) {
  const t = useTexts('moveIn')
  const { data, isPending, error, refetch } = useQuery(importQuery(server.id))
  const [again, setAgain] = useState(false)
  const running = server.status === 'running'
  return (
    <section aria-labelledby="move-in" className="grid gap-6">
      <div>
        <h3 id="move-in" className="text-sm font-semibold">
          {t.moveIn.title}
        </h3>
        <p className="mt-0.5 max-w-prose text-xs text-ink-3">{t.moveIn.about}</p>
      </div>
      {isPending ? <Skeleton className="h-48 rounded-lg" /> : null}
      {error && data === undefined ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {running ? null : <Note tone="info">{t.moveIn.closed}</Note>}
      {data !== undefined && running ? (
        <Stage server={server} current={again ? null : data} onAgain={setAgain} />
      ) : null}
    </section>
  )
}

function Stage({
  server,
  current,
  onAgain,
}: {
  server: Server
  current: Import | null
  onAgain: (again: boolean) => void
}) {
  const t = useTexts('moveIn')
  switch (current?.state) {
    case 'building':
      return <Building server={server} current={current} />
    case 'ready':
      return <MoveInReady server={server} current={current} />
    case 'switching':
      return (
        <div className="max-w-xl">
          <Progress label={t.moveIn.switching} share={null} />
          <p className="mt-2 text-xs text-ink-3">{t.moveIn.switchingHint}</p>
        </div>
      )
    case 'done':
      return <MoveInDone server={server} current={current} onAgain={() => onAgain(true)} />
    default:
      return (
        <>
          {current?.state === 'failed' ? <Failed current={current} /> : null}
          {current?.state === 'undone' ? <Note tone="info">{t.moveIn.undone}</Note> : null}
          <MoveInUpload
            server={server}
            begun={current?.state === 'uploading' ? current : null}
            onBegun={() => onAgain(false)}
          />
        </>
      )
  }
}

function Failed({ current }: { current: Import }) {
  const t = useTexts('moveIn')
  const { problem } = current
  return (
    <Note tone="danger">
      <span className="font-semibold">{t.moveIn.failed}.</span>{' '}
      {problem ? t.moveIn.problem[problem.code]?.(problem.detail) : null} {t.moveIn.unchanged}
    </Note>
  )
}

const steps = ['unpack', 'database', 'upgrade', 'addresses', 'compare'] as const

function Building({ server, current }: { server: Server; current: Import }) {
  const t = useTexts('moveIn')
  const at = steps.findIndex((step) => step === current.phase)
  const within = current.phase === 'database' ? current.share : 0
  // How long a package takes to unpack is unknown.
  const share = at <= 0 ? null : (at + within) / steps.length
  return (
    <div className="grid max-w-xl gap-4">
      <Progress
        label={t.moveIn.building}
        aside={t.moveIn.steps[current.phase ?? 'unpack']}
        share={share}
      />
      <p className="text-xs text-ink-3">{t.moveIn.buildingHint}</p>
      <Discard server={server} current={current} label={t.moveIn.cancel} />
    </div>
  )
}
