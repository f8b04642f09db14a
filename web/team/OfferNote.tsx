import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { acceptOffer, lookAtOffer } from '../../contract/hand-over.ts'
import { call, messageOf } from '../api.ts'
import { formatDay, formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Note, Skeleton } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { useTeamTexts } from './texts.ts'

/** The offer of a letter's link: what is handed over, its price, and the button that accepts it. */
export default function OfferNote({ token, onDone }: { token: string; onDone: () => void }) {
  const t = useTeamTexts()
  const { toast: toasts } = useTexts()
  const { money } = useFormat()
  const queryClient = useQueryClient()
  const looked = useQuery({
    queryKey: ['account', 'team', 'offer', token],
    queryFn: () => call(lookAtOffer, { body: { token } }),
    retry: false,
    staleTime: Infinity,
  })
  const monthly = looked.data?.monthly
  const taking = useMutation({
    // The accepted price is sent along: another price is refused.
    mutationFn: () =>
      call(acceptOffer, {
        body: { token, ...(monthly && { price: monthly.price }) },
      }),
    onError: () => looked.refetch(),
    onSuccess: async ({ name }) => {
      toast.success(toasts.success, t.taken(name))
      onDone()
      // Everything is refetched: servers, domains and renewals.
      await queryClient.invalidateQueries()
    },
  })
  const trouble = looked.error ?? taking.error
  const { data } = looked
  return (
    <Card
      {...(data && {
        title: t.isOffered(data.from, data.name),
        sub: t.until(formatTime(data.expiresAt)),
      })}
    >
      <div className="grid gap-4">
        {trouble ? (
          <Note tone="danger" role="alert">
            {messageOf(trouble)}
          </Note>
        ) : null}
        {data ? (
          <p className="text-sm">
            {t.kinds[data.kind]}:{' '}
            {monthly
              ? t.costs(money(monthly.price, monthly.currency), formatDay(monthly.renewsAt))
              : t.free}
          </p>
        ) : null}
        {looked.isPending ? <Skeleton className="h-10" /> : null}
        <div className="flex flex-wrap gap-2">
          {data ? (
            <Button busy={taking.isPending} onClick={() => taking.mutate()}>
              {t.take}
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
