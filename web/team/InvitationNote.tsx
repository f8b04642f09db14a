import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { acceptInvitation, lookAtInvitation } from '../../contract/team.ts'
import { call, messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { meQuery } from '../queries.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Note, Skeleton } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { accountsQuery } from './queries.ts'
import { useTeamTexts } from './texts.ts'

/** The invitation of a letter's link, and the button that accepts it. */
export default function InvitationNote({ token, onDone }: { token: string; onDone: () => void }) {
  const t = useTeamTexts()
  const { toast: toasts } = useTexts()
  const queryClient = useQueryClient()
  const looked = useQuery({
    queryKey: ['account', 'team', 'invitation', token],
    queryFn: () => call(lookAtInvitation, { body: { token } }),
    retry: false,
    staleTime: Infinity,
  })
  const accepting = useMutation({
    mutationFn: () => call(acceptInvitation, { body: { token } }),
    onSuccess: async ({ name }) => {
      toast.success(toasts.success, t.accepted(name))
      await Promise.all([
        queryClient.invalidateQueries(accountsQuery),
        queryClient.invalidateQueries(meQuery),
      ])
      onDone()
    },
  })
  const trouble = looked.error ?? accepting.error
  const { data } = looked
  return (
    <Card {...(data && { title: t.invited(data.from), sub: t.until(formatTime(data.expiresAt)) })}>
      <div className="grid gap-4">
        {trouble ? (
          <Note tone="danger" role="alert">
            {messageOf(trouble)}
          </Note>
        ) : null}
        {data ? (
          <div className="grid gap-1 text-sm">
            <p>{t.invitedAs(t.roles[data.role])}</p>
            <p className="text-ink-2">{t.roleHints[data.role]}</p>
            {data.limited ? <p className="text-ink-2">{t.invitedLimited}</p> : null}
          </div>
        ) : null}
        {looked.isPending ? <Skeleton className="h-16" /> : null}
        <div className="flex flex-wrap gap-2">
          {data ? (
            <Button busy={accepting.isPending} onClick={() => accepting.mutate()}>
              {t.accept}
            </Button>
          ) : null}
          <Button variant="ghost" onClick={onDone}>
            {t.later}
          </Button>
        </div>
      </div>
    </Card>
  )
}
