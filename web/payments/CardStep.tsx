import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useEffect } from 'react'
import { messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { buttonClass } from '../ui/Button.tsx'
import { RadioCard } from '../ui/RadioCard.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { cardsQuery } from './card-queries.ts'
import { CardLine } from './CardLine.tsx'
import { useCardTexts } from './card-texts.ts'

/**
 * The choice of a linked card. A customer without one links a card, and returns with the same
 * amount.
 */
export default function CardStep({
  amountText,
  chosen,
  onChoose,
}: {
  amountText: string
  chosen: string | undefined
  onChoose: (id: string) => void
}) {
  const t = useTexts()
  const c = useCardTexts()
  const navigate = useNavigate()
  const { data, isPending, isFetching, error, refetch } = useQuery(cardsQuery)
  const none = data?.length === 0 && !isFetching
  const link = async (search: { amount: string; type?: 'card' }) => {
    // The browser's Back button must lead to the amount as well, so the address is replaced first.
    await navigate({ to: '/payment', search, replace: true, resetScroll: false })
    await navigate({ to: '/link-card', search: { amount: amountText } })
  }
  useEffect(() => {
    // The address leaves out the payment type, which would lead here again.
    if (none) void link({ amount: amountText })
    // `amountText` is left out on purpose: the amount is passed on as it was when the missing card
    // was noticed.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [none, navigate])
  return (
    <section className="p-5 sm:p-6">
      <h2 className="text-base font-semibold">3. {c.choose}</h2>
      {isPending || data?.length === 0 ? (
        <div aria-busy="true" className="mt-4">
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
      {data && data.length > 0 ? (
        <>
          <fieldset className="@container mt-4">
            <legend className="sr-only">{c.choose}</legend>
            <div className="grid gap-2.5 @md:grid-cols-2">
              {data.map((card) => (
                <RadioCard
                  key={card.id}
                  name="card"
                  value={card.id}
                  checked={card.id === chosen}
                  onChange={onChoose}
                  className="items-center p-3.5 pr-11"
                >
                  <CardLine card={card} />
                </RadioCard>
              ))}
            </div>
          </fieldset>
          <Link
            to="/link-card"
            search={{ amount: amountText }}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return
              event.preventDefault()
              void link({ amount: amountText, type: 'card' })
            }}
            className={`${buttonClass('ghost', 'sm')} mt-3 -ml-3`}
          >
            <Plus aria-hidden className="size-4" />
            {c.another}
          </Link>
        </>
      ) : null}
    </section>
  )
}
