import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useRef, useState, type FormEvent } from 'react'
import { checkout, methods } from '../../contract/payments.ts'
import type { Config } from '../../contract/system.ts'
import { ApiError, Attempt, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { useDraft } from '../drafts.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { useConfig, useMe } from '../queries.ts'
import { Badge } from '../ui/Badge.tsx'
import { Later } from '../ui/Later.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty, Note, Skeleton } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { EmptyWallet } from '../wallet/EmptyWallet.tsx'
import { AmountStep } from './AmountStep.tsx'
import type { CardPayment } from './card-payment.ts'
import { cardTypeId, checkoutAddress, fastest, readAmount } from './top-up-form.ts'
import { TopUpSummary } from './TopUpSummary.tsx'
import { TypeCard } from './TypeCard.tsx'
import { WaitingTransfer } from './WaitingTransfer.tsx'
import { useCardTexts } from './card-texts.ts'
import { plainTyped } from './typed-amount.ts'

const VoucherCard = lazy(() => loadWanted(() => import('./VoucherCard.tsx')))
const AutoTopUpCard = lazy(() => loadWanted(() => import('./AutoTopUpCard.tsx')))
const CardStep = lazy(() => loadWanted(() => import('./CardStep.tsx')))
const route = getRouteApi('/app/payment')

type Offer = Config['payments'][string]
type PaymentType = Offer['types'][number]
type Method = (typeof methods)[number]

export default function TopUpPage() {
  const t = useTexts('topUp')
  const user = useMe()
  const { payments } = useConfig()
  const offer = payments[user.region_code]
  return (
    <>
      <title>{`${t.topUp.title} · ${brand}`}</title>
      <PageHead title={t.topUp.title} sub={t.topUp.sub} />
      {offer && (offer.types.length > 0 || offer.cards) ? (
        <Later>
          {() => (
            <>
              {offer.types.some(({ method }) => method === 'BANKTRANSFER') ? (
                <WaitingTransfer />
              ) : null}
              <TopUpForm offer={offer} />
            </>
          )}
        </Later>
      ) : (
        <section className="card">
          <Empty text={t.topUp.notOffered} art={<EmptyWallet />}>
            <p className="max-w-md text-sm text-ink-3">{t.topUp.notOfferedText}</p>
          </Empty>
        </section>
      )}
    </>
  )
}

/** VietQR comes first, because it is the fastest and costs nothing. */
const inOrder = (types: PaymentType[]) =>
  types.toSorted((a, b) => Number(b.id === fastest) - Number(a.id === fastest))

function TopUpForm({ offer }: { offer: Offer }) {
  const t = useTexts('topUp')
  const c = useCardTexts()
  const { currency } = useMe()
  const { cards } = useConfig()
  const { money } = useFormat()
  const search = route.useSearch()
  const navigate = useNavigate()
  const [attempt] = useState(() => new Attempt())
  const cardPayment = useRef<CardPayment>(undefined)
  const [text, setText] = useDraft(
    'amount',
    search.amount ? plainTyped(search.amount, currency, 'en') : '',
  )
  const [typeId, setTypeId] = useDraft(
    'type',
    search.type === 'card' && offer.cards ? cardTypeId : undefined,
  )
  const [cardId, setCardId] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string>()

  const types = inOrder(offer.types)
  const { amount, problem } = readAmount(text, currency, offer)
  const byCard = typeId === cardTypeId
  const chosen = types.find((type) => type.id === typeId)
  const ready = problem === undefined && (byCard ? cardId !== undefined : chosen !== undefined)
  const complaints: Partial<Record<NonNullable<typeof problem>, string>> = {
    low: t.topUp.amountLow(money(offer.min, currency)),
    high: t.topUp.amountHigh(money(offer.max, currency)),
    bad: t.topUp.amountBad,
  }
  const complaint = problem && complaints[problem]
  let payLabel = t.topUp.payMethod
  if (problem !== undefined) payLabel = complaint ?? t.topUp.payEmpty
  else if (byCard) payLabel = c.confirm(money(amount, currency))
  else if (chosen) payLabel = t.topUp.pay(money(amount, currency))
  let note = t.topUp.safe
  if (busy && !byCard) note = t.topUp.leaving
  else if (byCard && problem === undefined && cardId === undefined) note = c.choose

  const type = (next: string) => {
    setText(next)
    setRefusal(undefined)
  }

  const payAtGateway = async ({ type: kind, method }: PaymentType) => {
    const { checkoutUrl } = await attempt.run(checkout, {
      body: { amount, type: kind, method: method as Method | null },
    })
    location.assign(checkoutAddress(checkoutUrl, location.protocol))
    // The button stays busy until the gateway's page is there. Coming back by the browser's Back
    // button enables it again.
    window.addEventListener('pageshow', () => setBusy(false), { once: true })
  }

  const payByCard = async (methodId: string) => {
    cardPayment.current ??= new (await import('./card-payment.ts')).CardPayment()
    const outcome = await cardPayment.current.pay(cards, amount, methodId)
    setBusy(false)
    if (outcome.kind === 'error') {
      const { type: kind, message } = outcome.error
      const notice =
        kind === 'invalid_request_error' && message !== undefined ? message : c.payFailed
      toast.error(t.toast.error, notice)
      setRefusal(kind === 'card_error' && message !== undefined ? `${notice} ${message}` : notice)
    } else if (outcome.kind === 'other') {
      toast.error(c.unsuccessful, c.unsuccessfulText)
      setRefusal(c.unsuccessfulText)
    } else {
      toast.success(c.paid, c.paidText)
      await navigate({ to: '/payments/stripe/success', search: { transId: outcome.code } })
    }
  }

  const pay = async (event: FormEvent) => {
    event.preventDefault()
    if (busy || !ready) return
    setBusy(true)
    setRefusal(undefined)
    try {
      if (byCard && cardId !== undefined) await payByCard(cardId)
      else if (chosen) await payAtGateway(chosen)
    } catch (error) {
      setBusy(false)
      const notice = byCard ? c.payFailed : t.toast.tryAgain
      const why = error instanceof ApiError || !byCard ? messageOf(error) : c.providerAway
      toast.error(t.toast.error, notice)
      // The same text is not shown twice.
      if (why !== notice) setRefusal(why)
    }
  }

  return (
    <div
      className={
        'grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_300px] ' +
        'xl:grid-cols-[minmax(0,1fr)_340px]'
      }
    >
      <div className="grid gap-6">
        <form
          id="top-up"
          className="card divide-y divide-border"
          onSubmit={(event) => void pay(event)}
          noValidate
        >
          <AmountStep
            offer={offer}
            currency={currency}
            text={text}
            amount={amount}
            complaint={complaint}
            tooSmall={problem === 'low'}
            onType={type}
          />
          {amount > 0 ? (
            <section className="p-5 sm:p-6">
              <div className="flex flex-wrap items-center justify-between gap-3">
                <h2 className="text-base font-semibold">2. {t.topUp.typeStep}</h2>
                {types.length > 0 ? <Badge>{t.topUp.local}</Badge> : null}
              </div>
              <fieldset className="@container mt-4">
                <legend className="sr-only">{t.topUp.typeStep}</legend>
                <div className="grid gap-2.5 @md:grid-cols-2">
                  {types.map((entry, index) => (
                    <TypeCard
                      key={entry.id}
                      type={entry}
                      wide={index === 0 && types.length % 2 === 1}
                      checked={entry.id === typeId}
                      onChoose={() => setTypeId(entry.id)}
                    />
                  ))}
                  {offer.cards ? (
                    <TypeCard
                      type={{ id: cardTypeId, name: { en: c.credit, vi: c.credit }, method: null }}
                      wide={types.length % 2 === 0}
                      checked={byCard}
                      onChoose={() => setTypeId(cardTypeId)}
                    />
                  ) : null}
                </div>
              </fieldset>
            </section>
          ) : null}
          {amount > 0 && byCard ? (
            <Suspense fallback={<Skeleton className="m-5 h-16 sm:m-6" />}>
              <CardStep
                amountText={text}
                chosen={cardId}
                onChoose={(id) => {
                  setCardId(id)
                  setRefusal(undefined)
                }}
              />
            </Suspense>
          ) : null}
          {refusal ? (
            <div className="p-5 sm:p-6">
              <Note tone="danger" role="alert">
                {refusal}
              </Note>
            </div>
          ) : null}
        </form>
        {offer.cards ? (
          <Suspense fallback={null}>
            <AutoTopUpCard />
          </Suspense>
        ) : null}
        <Suspense fallback={null}>
          <VoucherCard />
        </Suspense>
      </div>
      <TopUpSummary amount={amount} payLabel={payLabel} busy={busy} disabled={!ready} note={note} />
    </div>
  )
}
