import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { StaffSession } from '../../contract/operator.ts'
import { mayDo } from '../../contract/staff-roles.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { BackLink } from './BackLink.tsx'
import { ActDialog, type WantedAct } from './ActDialog.tsx'
import { timeOf, useDeskLanguage, useDeskTexts } from './language.ts'
import { cannedQuery } from './queries.ts'

/** Canned answers. */
export function CannedView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const { data, error, refetch } = useQuery(cannedQuery)
  const [wanted, setWanted] = useState<WantedAct>()
  const may = mayDo(session.role, 'tickets')
  return (
    <>
      <BackLink to="/tickets" text={t.tickets.back} />
      <PageHead title={t.tickets.manage} sub={t.tickets.manageSub}>
        {may ? (
          <Button onClick={() => setWanted({ act: 'ticket.save_canned', fixed: {} })}>
            <Plus aria-hidden className="size-4" />
            {t.tickets.newCanned}
          </Button>
        ) : null}
      </PageHead>
      <Card padded={false}>
        {error && !data ? (
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        ) : null}
        {(data ?? error) ? null : <SkeletonRows className="p-5" />}
        {data?.length === 0 ? <Empty text={t.tickets.noCanned} /> : null}
        <ul>
          {data?.map(({ id, name, text, changedAt, changedBy }) => (
            <li
              key={id}
              className="flex flex-wrap gap-3 border-t border-border px-5 py-4 first:border-0"
            >
              <div className="min-w-0 flex-1 basis-80">
                <p className="font-medium break-words">{name}</p>
                <p className="mt-1 text-sm break-words whitespace-pre-line text-ink-2">
                  {text[language]}
                </p>
                <p className="num mt-2 text-xs text-ink-3">
                  {t.tickets.changedBy(changedBy, timeOf(changedAt).slice(0, 16))}
                </p>
              </div>
              {may ? (
                <div className="flex items-start gap-2">
                  <Button
                    variant="outline"
                    size="sm"
                    aria-label={`${t.tickets.edit}: ${name}`}
                    onClick={() =>
                      setWanted({
                        act: 'ticket.save_canned',
                        about: name,
                        fixed: { canned: id },
                        initial: { name, textEn: text.en, textVi: text.vi },
                      })
                    }
                  >
                    {t.tickets.edit}
                  </Button>
                  <Button
                    variant="outline"
                    size="sm"
                    aria-label={`${t.tickets.remove}: ${name}`}
                    onClick={() =>
                      setWanted({
                        act: 'ticket.delete_canned',
                        about: name,
                        fixed: { canned: id },
                      })
                    }
                  >
                    {t.tickets.remove}
                  </Button>
                </div>
              ) : null}
            </li>
          ))}
        </ul>
      </Card>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}
