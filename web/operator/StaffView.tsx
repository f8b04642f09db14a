import { useQuery } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import type { ActName } from '../../contract/operator-acts.ts'
import type { StaffMember, StaffSession } from '../../contract/operator.ts'
import { mayDo } from '../../contract/staff-roles.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { ActDialog, type WantedAct } from './ActDialog.tsx'
import { timeOf, useDeskTexts } from './language.ts'
import { staffQuery } from './queries.ts'

const rowClass = 'flex flex-wrap items-center gap-3 border-t border-border px-5 py-3 first:border-0'

export function StaffView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const { data, error, refetch } = useQuery(staffQuery)
  const [wanted, setWanted] = useState<WantedAct>()
  const may = mayDo(session.role, 'staff')
  const ask = (act: ActName, member: StaffMember): void =>
    setWanted({
      act,
      about: member.name,
      fixed: { member: member.id },
      initial: { role: member.role, networks: member.networks.join(', ') },
    })
  return (
    <>
      <PageHead title={t.staff.title} sub={t.staff.sub}>
        {may ? (
          <Button onClick={() => setWanted({ act: 'staff.invite', fixed: {} })}>
            <UserPlus aria-hidden className="size-4" />
            {t.staff.invite}
          </Button>
        ) : null}
      </PageHead>
      <Card padded={false}>
        {error && !data ? (
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        ) : null}
        {(data ?? error) ? null : <SkeletonRows className="p-5" />}
        <ul>
          {data?.members.map((member) => {
            const { id, name, email, role, networks, lastSignInAt, disabledAt } = member
            const isSelf = email === session.email && disabledAt === null
            return (
              <li key={id} className={rowClass}>
                <div className="min-w-0 flex-1 basis-60">
                  <p className="font-medium break-words">
                    {name}
                    {isSelf ? <span className="text-ink-3">{` (${t.staff.you})`}</span> : null}
                  </p>
                  <p className="text-sm break-words text-ink-2">{email}</p>
                  <p className="num text-xs text-ink-3">
                    {`${networks.join(', ') || t.staff.anywhere} · ${t.staff.last}: ` +
                      (lastSignInAt === null ? t.staff.never : timeOf(lastSignInAt))}
                  </p>
                </div>
                <Badge>{t.roles[role]}</Badge>
                {disabledAt === null ? null : (
                  <Badge tone="danger" dot>
                    {t.staff.disabled}
                  </Badge>
                )}
                {may && disabledAt === null ? (
                  <>
                    <Button variant="outline" size="sm" onClick={() => ask('staff.change', member)}>
                      {t.acts['staff.change']}
                    </Button>
                    {isSelf ? null : (
                      <Button
                        variant="danger"
                        size="sm"
                        onClick={() => ask('staff.disable', member)}
                      >
                        {t.acts['staff.disable']}
                      </Button>
                    )}
                  </>
                ) : null}
                {may && disabledAt !== null ? (
                  <Button variant="outline" size="sm" onClick={() => ask('staff.enable', member)}>
                    {t.acts['staff.enable']}
                  </Button>
                ) : null}
              </li>
            )
          })}
          {data?.invitations.map(({ id, name, email, role, networks, expiresAt }) => (
            <li key={id} className={rowClass}>
              <div className="min-w-0 flex-1 basis-60">
                <p className="font-medium break-words">{name}</p>
                <p className="text-sm break-words text-ink-2">{email}</p>
                <p className="num text-xs text-ink-3">{networks.join(', ') || t.staff.anywhere}</p>
              </div>
              <Badge>{t.roles[role]}</Badge>
              <Badge tone="info">
                {`${t.staff.invited} · ${t.staff.until(timeOf(expiresAt))}`}
              </Badge>
              {may ? (
                <>
                  <Button
                    variant="outline"
                    size="sm"
                    onClick={() =>
                      setWanted({
                        act: 'staff.invite',
                        about: name,
                        fixed: { replaces: id },
                        initial: { name, email, role, networks: networks.join(', ') },
                      })
                    }
                  >
                    {t.staff.again}
                  </Button>
                  <Button
                    variant="danger"
                    size="sm"
                    onClick={() =>
                      setWanted({ act: 'staff.withdraw', about: name, fixed: { invitation: id } })
                    }
                  >
                    {t.acts['staff.withdraw']}
                  </Button>
                </>
              ) : null}
            </li>
          ))}
        </ul>
      </Card>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}
