import { useMutation, useQuery } from '@tanstack/react-query'
import { leaveAccount, type OtherAccount } from '../../contract/team.ts'
import { CardList } from '../account/CardList.tsx'
import { call, messageOf } from '../api.ts'
import { formatDay } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { ConfirmButton } from '../security/ConfirmButton.tsx'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { toast } from '../ui/toast.ts'
import { enter } from './enter.ts'
import { accountsQuery } from './queries.ts'
import { useTeamTexts } from './texts.ts'

/** Accounts of others in which the customer may work. */
export function AccountsCard() {
  const t = useTeamTexts()
  const { data, error, refetch } = useQuery(accountsQuery)
  return (
    <Card title={t.others} sub={t.othersSub} padded={false}>
      <CardList
        items={data}
        error={error}
        onRetry={refetch}
        empty={t.noOthers}
        row={(account) => <AccountRow key={account.id} account={account} />}
      />
    </Card>
  )
}

function AccountRow({ account }: { account: OtherAccount }) {
  const t = useTeamTexts()
  const { toast: toasts } = useTexts()
  const { id, name, role, joinedAt } = account
  const opening = useMutation({
    mutationFn: () => enter(account),
    onError: (error) => toast.error(toasts.error, messageOf(error)),
  })
  return (
    <li className="flex flex-wrap items-start justify-between gap-3 px-5 py-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm font-medium">
          <span className="wrap-anywhere">{name}</span>
          <Badge tone="neutral">{t.roles[role]}</Badge>
        </p>
        <p className="num mt-0.5 text-xs text-ink-3">{t.joined(formatDay(joinedAt))}</p>
      </div>
      <div className="flex gap-2">
        <Button
          size="sm"
          aria-label={t.openOf(name)}
          busy={opening.isPending}
          onClick={() => opening.mutate()}
        >
          {t.open}
        </Button>
        <ConfirmButton
          label={t.leave}
          fullLabel={t.leaveOf(name)}
          title={t.leaveTitle}
          text={t.leaveText(name)}
          danger
          act={() => call(leaveAccount, { params: { id } })}
          done={t.left}
          refreshes={accountsQuery}
        />
      </div>
    </li>
  )
}
