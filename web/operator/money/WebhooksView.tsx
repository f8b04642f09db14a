import { useInfiniteQuery } from '@tanstack/react-query'
import { Webhook } from 'lucide-react'
import { useState } from 'react'
import type { NoticeOutcome } from '../../../contract/operator-notices.ts'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Badge, type Tone } from '../../ui/Badge.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { timeOf, useDeskTexts } from '../language.ts'
import { PagedList, rowClass } from '../PagedList.tsx'
import { DeskLink } from '../path.tsx'
import { noticesQuery } from './queries.ts'

const tones: Record<NoticeOutcome, Tone> = {
  posted: 'success',
  duplicate: 'neutral',
  suspense: 'warning',
  forged: 'danger',
  failed: 'danger',
  unfinished: 'warning',
}
/** A webhook's outcome. */
export function Judged({ outcome }: { outcome: NoticeOutcome }) {
  const { outcomes } = useDeskTexts().notices
  return (
    <Badge tone={tones[outcome]} dot>
      {outcomes[outcome]}
    </Badge>
  )
}

/** Webhooks of gateways as received, newest first. */
export function WebhooksView({ session }: { session: StaffSession }) {
  const may = mayDo(session.role, 'money')
  const words = useDeskTexts().notices
  const [show, setShow] = useState<'trouble' | 'all'>('trouble')
  const list = useInfiniteQuery(noticesQuery(show))
  return (
    <>
      <PageHead title={words.title} sub={words.sub}>
        <Segmented
          label={words.show}
          value={show}
          onChange={setShow}
          options={[
            { value: 'trouble', label: words.trouble },
            { value: 'all', label: words.all },
          ]}
        />
      </PageHead>
      <PagedList list={list} empty={show === 'trouble' ? words.empty : words.none} icon={Webhook}>
        {(one) => (
          <li key={one.id} className={rowClass}>
            <span className="min-w-0 flex-1 basis-60">
              <span className="num block text-sm font-medium">
                {may ? (
                  <DeskLink to={`/webhooks/${one.id}`} className="hover:underline">
                    {`${one.gateway} · ${one.id}`}
                  </DeskLink>
                ) : (
                  `${one.gateway} · ${one.id}`
                )}
              </span>
              <span className="num block text-xs break-words text-ink-3">
                {timeOf(one.at) + (one.payment === null ? '' : ` · ${one.payment}`)}
              </span>
              {one.replayedAt !== null && one.replayOutcome !== null ? (
                <span className="block text-xs text-ink-2">
                  {words.replayed(timeOf(one.replayedAt), words.outcomes[one.replayOutcome])}
                </span>
              ) : null}
            </span>
            <Judged outcome={one.outcome} />
          </li>
        )}
      </PagedList>
    </>
  )
}
