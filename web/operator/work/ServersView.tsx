import { useInfiniteQuery } from '@tanstack/react-query'
import { Server } from 'lucide-react'
import { useState } from 'react'
import { formatMoney } from '../../../contract/money.ts'
import {
  serverStates,
  type DeskServer,
  type DeskServerState,
} from '../../../contract/operator-work.ts'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { timeOf, useDeskLanguage, useDeskTexts } from '../language.ts'
import { PagedList, rowClass } from '../PagedList.tsx'
import { DeskLink } from '../path.tsx'
import { serversQuery } from '../queries.ts'
import { StateChoice } from '../StateChoice.tsx'

const retried: readonly DeskServerState[] = ['setting_up', 'down', 'failed', 'unpaid', 'deleting']

/** Orders and servers in one state, with the acts on them. */
export function ServersView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const words = t.work.servers
  const [state, setState] = useState<DeskServerState>('setting_up')
  const list = useInfiniteQuery(serversQuery(state))
  const [wanted, setWanted] = useState<WantedAct>()
  const may = mayDo(session.role, 'work')
  return (
    <>
      <PageHead title={words.title} sub={words.sub}>
        <StateChoice
          label={words.show}
          states={serverStates}
          names={words.states}
          value={state}
          onChange={setState}
        />
      </PageHead>
      <PagedList list={list} empty={words.empty} icon={Server}>
        {(one) => (
          <li key={one.id} className={rowClass}>
            <About of={one} />
            <Why of={one} />
            {may && retried.includes(one.state) ? (
              <Button
                size="sm"
                variant="outline"
                onClick={() =>
                  setWanted({
                    act: 'work.retry_server',
                    about: one.name,
                    fixed: { server: one.id },
                  })
                }
              >
                {one.state === 'failed' ? words.cleanAgain : t.acts['work.retry_server']}
              </Button>
            ) : null}
            {may && !one.givingUp && (one.state === 'setting_up' || one.state === 'unpaid') ? (
              <Button
                size="sm"
                variant="outline"
                onClick={() =>
                  setWanted({
                    act: 'work.give_up_order',
                    about: one.name,
                    fixed: { server: one.id },
                  })
                }
              >
                {t.acts['work.give_up_order']}
              </Button>
            ) : null}
          </li>
        )}
      </PagedList>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}

/** What it is, who owns it, and what it costs. */
function About({ of: one }: { of: DeskServer }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const words = t.work.servers
  const { order } = one
  const facts = [
    one.plan,
    words.containers(one.containers),
    one.region,
    ...(order ? [formatMoney(order.total, order.currency, language)] : []),
    words.ordered(timeOf(one.orderedAt)),
  ]
  return (
    <span className="min-w-0 flex-1 basis-72">
      <span className="block text-sm font-medium [overflow-wrap:anywhere]">
        {one.customer ? (
          <DeskLink to={`/customers/${one.customer.id}`} className="hover:underline">
            {`${one.name} · ${one.customer.email}`}
          </DeskLink>
        ) : (
          one.name
        )}
      </span>
      <span className="num block text-xs text-ink-3">{facts.join(' · ')}</span>
    </span>
  )
}

/** The reason for the state, and since when. */
function Why({ of: one }: { of: DeskServer }) {
  const t = useDeskTexts()
  const words = t.work.servers
  const lapsesAt = one.state === 'unpaid' ? (one.order?.lapsesAt ?? null) : null
  const when = [
    ...(one.since === null ? [] : [t.work.since(timeOf(one.since))]),
    ...(lapsesAt === null ? [] : [words.lapses(timeOf(lapsesAt))]),
    ...(one.attempts > 0 ? [t.work.attempts(one.attempts)] : []),
  ]
  const why = one.suspendedFor === null ? one.why : words[one.suspendedFor]
  return (
    <span className="min-w-0 flex-1 basis-60 text-sm text-ink-2">
      {one.givingUp ? <Badge tone="warning">{words.givingUp}</Badge> : null}
      {why === null ? null : <span className="block [overflow-wrap:anywhere]">{why}</span>}
      {when.length === 0 ? null : (
        <span className="num block text-xs text-ink-3">{when.join(' · ')}</span>
      )}
    </span>
  )
}
