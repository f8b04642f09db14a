import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { removeMember, takeBack, type Invitation, type Member } from '../../contract/team.ts'
import { CardList } from '../account/CardList.tsx'
import { call } from '../api.ts'
import { formatDay, formatTime } from '../format.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { ConfirmButton } from '../security/ConfirmButton.tsx'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Skeleton } from '../ui/State.tsx'
import { teamQuery } from './queries.ts'
import { useTeamTexts } from './texts.ts'

/** Loaded on demand, because it is rarely used. */
const InviteForm = lazy(() => loadWanted(() => import('./InviteForm.tsx')))
const ChangeForm = lazy(() => loadWanted(() => import('./ChangeForm.tsx')))

/**
 * The servers and domains that a member is limited to, as text; for the whole account an empty
 * text.
 */
function useReach(): (of: Pick<Member, 'servers' | 'domains'>) => string {
  const t = useTeamTexts()
  return ({ servers, domains }) =>
    servers === null && domains === null
      ? ''
      : [
          servers === null ? t.allServers : t.someServers(servers.length),
          domains === null ? t.allDomains : t.someDomains(domains.length),
        ].join(' · ')
}

export function MembersCard() {
  const t = useTeamTexts()
  const { data, error, refetch } = useQuery(teamQuery)
  const [inviting, setInviting] = useState(false)
  return (
    <Card
      title={t.members}
      sub={t.membersSub}
      padded={false}
      action={
        inviting ? null : (
          <Button size="sm" onClick={() => setInviting(true)}>
            {t.invite}
          </Button>
        )
      }
    >
      {inviting ? (
        <div className="border-t border-border p-5">
          <Suspense fallback={<Skeleton className="h-96" />}>
            <InviteForm onDone={() => setInviting(false)} />
          </Suspense>
        </div>
      ) : null}
      <CardList
        items={data?.members}
        error={error}
        onRetry={refetch}
        empty={inviting ? undefined : t.noMembers}
        row={(member) => <MemberRow key={member.id} member={member} />}
      />
    </Card>
  )
}

function MemberRow({ member }: { member: Member }) {
  const t = useTeamTexts()
  const reach = useReach()(member)
  const [changing, setChanging] = useState(false)
  const { name, lastUsedAt } = member
  return (
    <li>
      <div className="flex flex-wrap items-start justify-between gap-3 px-5 py-3">
        <div className="min-w-0">
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm font-medium">
            <span className="wrap-anywhere">{name}</span>
            <Badge tone="neutral">{t.roles[member.role]}</Badge>
          </p>
          <p className="mt-0.5 text-xs wrap-anywhere text-ink-2">{member.email}</p>
          {reach === '' ? null : <p className="mt-0.5 text-xs text-ink-2">{reach}</p>}
          <p className="num mt-0.5 text-xs text-ink-3">
            {t.joined(formatDay(member.joinedAt))} ·{' '}
            {lastUsedAt === null ? t.neverUsed : t.lastUsed(formatTime(lastUsedAt))}
          </p>
        </div>
        <div className="flex gap-2">
          <Button
            variant="outline"
            size="sm"
            aria-label={t.changeOf(name)}
            aria-expanded={changing}
            onClick={() => setChanging((now) => !now)}
          >
            {t.change}
          </Button>
          <ConfirmButton
            label={t.remove}
            fullLabel={t.removeOf(name)}
            title={t.removeTitle}
            text={t.removeText(name)}
            danger
            act={() => call(removeMember, { params: { id: member.id } })}
            done={t.removed}
            refreshes={teamQuery}
          />
        </div>
      </div>
      {changing ? (
        <Suspense fallback={<Skeleton className="h-72" />}>
          <ChangeForm member={member} onDone={() => setChanging(false)} />
        </Suspense>
      ) : null}
    </li>
  )
}

/** Shown only where invitations are open. */
export function InvitationsCard() {
  const t = useTeamTexts()
  const { data } = useQuery(teamQuery)
  if (!data || data.invitations.length === 0) return null
  return (
    <Card title={t.invitations} padded={false}>
      <CardList
        items={data.invitations}
        error={null}
        onRetry={() => undefined}
        row={(one) => <InvitationRow key={one.id} invitation={one} />}
      />
    </Card>
  )
}

function InvitationRow({ invitation: { id, email, role, expiresAt, ...of } }: RowProps) {
  const t = useTeamTexts()
  const reach = useReach()(of)
  return (
    <li className="flex flex-wrap items-start justify-between gap-3 px-5 py-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm font-medium">
          <span className="wrap-anywhere">{email}</span>
          <Badge tone="neutral">{t.roles[role]}</Badge>
        </p>
        {reach === '' ? null : <p className="mt-0.5 text-xs text-ink-2">{reach}</p>}
        <p className="num mt-0.5 text-xs text-ink-3">{t.until(formatTime(expiresAt))}</p>
      </div>
      <ConfirmButton
        label={t.takeBack}
        fullLabel={t.takeBackOf(email)}
        title={t.takeBackTitle}
        text={t.takeBackText(email)}
        danger
        act={() => call(takeBack, { params: { id } })}
        done={t.takenBack}
        refreshes={teamQuery}
      />
    </li>
  )
}
interface RowProps {
  invitation: Invitation
}
