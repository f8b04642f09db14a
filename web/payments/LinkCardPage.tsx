import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { ArrowLeft, CreditCard, Ellipsis, Star, Unlink } from 'lucide-react'
import { useEffect, useState } from 'react'
import { attachMethod, detachMethod, type Card } from '../../contract/cards.ts'
import { call, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { useTexts } from '../i18n/index.ts'
import { useConfig } from '../queries.ts'
import type { LoadInput } from '../load-input.ts'
import { may } from '../may.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Menu } from '../ui/Menu.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { cardsQuery } from './card-queries.ts'
import { CardLine, cardName } from './CardLine.tsx'
import { LinkCardForm } from './LinkCardForm.tsx'
import { useCardTexts } from './card-texts.ts'

const route = getRouteApi('/app/link-card')
/** How long the success message stays before the page returns to the payment, ms. */
const backAfterMs = 1000

export const load = ({ queryClient }: LoadInput) => queryClient.prefetchQuery(cardsQuery)

/** The customer's cards, and the provider's form for linking another. */
export default function LinkCardPage() {
  const t = useTexts()
  const c = useCardTexts()
  const { cards } = useConfig()
  const { amount, setup_intent_client_secret: returned } = route.useSearch()
  const navigate = useNavigate()
  const [isLinked, setIsLinked] = useState(false)
  useEffect(() => {
    if (!isLinked || amount === undefined) return
    const goingBack = setTimeout(
      () => void navigate({ to: '/payment', search: { amount, type: 'card' } }),
      backAfterMs,
    )
    return () => clearTimeout(goingBack)
  }, [isLinked, amount, navigate])
  const onLinked = () => {
    if (amount !== undefined) setIsLinked(true)
    // The setup is finished; without its parameters a reload does not conclude it again.
    else if (returned !== undefined) void navigate({ to: '/link-card', search: {}, replace: true })
  }
  return (
    <>
      <title>{`${c.title} · ${brand}`}</title>
      <PageHead title={c.title} sub={c.sub}>
        {amount === undefined ? null : (
          <Link to="/payment" search={{ amount }} className={buttonClass('outline')}>
            <ArrowLeft aria-hidden className="size-4" />
            {c.back}
          </Link>
        )}
      </PageHead>
      {cards.publishableKey !== '' ? (
        <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-2">
          {may('money:write') ? (
            <section className="card">
              <LinkCardForm returned={returned} onLinked={onLinked} />
            </section>
          ) : null}
          <CardList />
        </div>
      ) : (
        <section className="card">
          <Empty
            text={c.notOffered}
            art={<CreditCard aria-hidden className="size-8 text-ink-3" strokeWidth={1.5} />}
          >
            <Link to="/payment" className={buttonClass('outline')}>
              {t.nav.topUp}
            </Link>
          </Empty>
        </section>
      )}
    </>
  )
}

function CardList() {
  const t = useTexts()
  const c = useCardTexts()
  const { data, isPending, error, refetch } = useQuery(cardsQuery)
  return (
    <section className="card" aria-labelledby="cards-heading">
      <h2 id="cards-heading" className="px-5 pt-5 text-base font-semibold sm:px-6 sm:pt-6">
        {c.list}
      </h2>
      {isPending ? (
        <div aria-busy="true" className="p-5 sm:p-6">
          <SkeletonRows rows={2} />
        </div>
      ) : null}
      {!data && !isPending ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {data?.length === 0 ? (
        <Empty
          text={c.none}
          art={<CreditCard aria-hidden className="size-8 text-ink-3" strokeWidth={1.5} />}
        />
      ) : null}
      {data && data.length > 0 ? (
        <ul className="mt-2 divide-y divide-border pb-2">
          {data.map((card) => (
            <Entry key={card.id} card={card} />
          ))}
        </ul>
      ) : null}
    </section>
  )
}

function Entry({ card }: { card: Card }) {
  const t = useTexts()
  const c = useCardTexts()
  const queryClient = useQueryClient()
  const [asking, setAsking] = useState(false)
  const name = cardName(card, c.ends)
  const again = () => queryClient.invalidateQueries({ queryKey: cardsQuery.queryKey })
  const choose = useMutation({
    mutationFn: () => call(attachMethod, { body: { methodId: card.id } }),
    onSuccess: async () => {
      await again()
      toast.success(t.toast.success, c.attached)
    },
    onError: () => toast.error(t.toast.error, c.notAttached),
  })
  return (
    <li
      className="flex min-h-16 items-center justify-between gap-3 px-5 py-3 sm:px-6"
      aria-busy={choose.isPending}
    >
      <CardLine card={card} />
      {may('money:write') ? (
        <Menu
          label={c.actions(name)}
          className={
            'grid size-10 shrink-0 place-items-center rounded-md text-ink-2 hover:bg-subtle ' +
            'hover:text-ink'
          }
          trigger={<Ellipsis aria-hidden className="size-4" />}
          items={[
            ...(card.default
              ? []
              : [{ label: c.makeDefault, icon: Star, onSelect: () => choose.mutate() }]),
            { label: c.unlink, icon: Unlink, danger: true, onSelect: () => setAsking(true) },
          ]}
        />
      ) : null}
      <UnlinkDialog
        card={card}
        name={name}
        open={asking}
        onClose={() => setAsking(false)}
        onDone={again}
      />
    </li>
  )
}

function UnlinkDialog(of: {
  card: Card
  name: string
  open: boolean
  onClose: () => void
  onDone: () => Promise<void>
}) {
  const { card, name, open, onClose, onDone } = of
  const t = useTexts()
  const c = useCardTexts()
  const unlink = useMutation({
    mutationFn: () => call(detachMethod, { params: { id: card.id } }),
    onSuccess: async () => {
      onClose()
      await onDone()
      toast.success(t.toast.success, c.unlinked)
    },
    onError: (error) => toast.error(t.toast.error, messageOf(error)),
  })
  return (
    <Dialog
      open={open}
      onClose={onClose}
      busy={unlink.isPending}
      title={c.unlinkTitle}
      description={c.unlinkText(name)}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button busy={unlink.isPending} onClick={() => unlink.mutate()}>
            {c.unlink}
          </Button>
        </>
      }
    />
  )
}
