import { getRouteApi } from '@tanstack/react-router'
import { Banknote, CreditCard, Landmark, Lock, QrCode, ShieldCheck, Smartphone, Zap, type LucideIcon } from 'lucide-react'
import { useRef, useState, type FormEvent } from 'react'
import { exponents, toMajor } from '../../contract/money.ts'
import { checkout, methods } from '../../contract/payments.ts'
import type { Config } from '../../contract/system.ts'
import { Attempt, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { groupTyped, plainTyped, useFormat } from '../format.ts'
import { sentenceLanguage, useTexts } from '../i18n/index.ts'
import { useConfig, useMe } from '../queries.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { PageHead } from '../ui/PageHead.tsx'
import { RadioCard } from '../ui/RadioCard.tsx'
import { Empty, Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { EmptyWallet } from '../wallet/Illustration.tsx'
import { checkoutAddress, readAmount } from './top-up-form.ts'

const route = getRouteApi('/app/payment')

type Offer = Config['payments'][string]
type PaymentType = Offer['types'][number]
type Method = (typeof methods)[number]

const icons: Record<number, LucideIcon> = { 2: Zap, 3: QrCode, 4: Landmark, 5: CreditCard, 6: Smartphone, 8: Banknote }
const fastest = 3

export default function TopUpPage() {
  const t = useTexts()
  const user = useMe()
  const { payments } = useConfig()
  const offer = payments[user.region_code]
  return (
    <>
      <title>{`${t.topUp.title} · ${brand}`}</title>
      <PageHead title={t.topUp.title} sub={t.topUp.sub} />
      {offer && offer.types.length > 0 ? (
        <TopUpForm offer={offer} />
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

/** VietQR first: it is the fastest and costs nothing. */
const inOrder = (types: PaymentType[]) => types.toSorted((a, b) => Number(b.id === fastest) - Number(a.id === fastest))

function TopUpForm({ offer }: { offer: Offer }) {
  const t = useTexts()
  const user = useMe()
  const { money, language } = useFormat()
  const { currency } = user
  const search = route.useSearch()
  const input = useRef<HTMLInputElement>(null)
  const [attempt] = useState(() => new Attempt())
  const [text, setText] = useState(search.amount ? plainTyped(search.amount, currency, 'en') : '')
  const [typeId, setTypeId] = useState<number>()
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string>()
  const [touched, setTouched] = useState(false)

  const types = inOrder(offer.types)
  const { amount, problem } = readAmount(text, currency, offer)
  const chosen = types.find((type) => type.id === typeId)
  const complaint =
    problem === 'low'
      ? t.topUp.amountLow(money(offer.min, currency))
      : problem === 'high'
        ? t.topUp.amountHigh(money(offer.max, currency))
        : problem === 'bad'
          ? t.topUp.amountBad
          : undefined
  // While one is still typing, "too small" is no complaint yet.
  const shownComplaint = problem === 'low' && !touched ? undefined : complaint
  const payLabel =
    problem !== undefined ? (complaint ?? t.topUp.payEmpty) : chosen ? t.topUp.pay(money(amount, currency)) : t.topUp.payMethod

  const type = (next: string) => {
    setText(plainTyped(next, currency, language))
    setRefusal(undefined)
  }

  const pay = async (event: FormEvent) => {
    event.preventDefault()
    if (busy || problem !== undefined || !chosen) return
    setBusy(true)
    setRefusal(undefined)
    try {
      const { checkoutUrl } = await attempt.run(checkout, { body: { amount, type: chosen.type, method: chosen.method as Method | null } })
      location.assign(checkoutAddress(checkoutUrl, location.protocol))
      // The button stays busy until the gateway's page is there; coming back with the browser's arrow wakes it.
      window.addEventListener('pageshow', () => setBusy(false), { once: true })
    } catch (error) {
      setBusy(false)
      setRefusal(messageOf(error))
      toast.error(t.toast.error, t.toast.tryAgain)
    }
  }

  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_340px]">
      <form id="top-up" className="card divide-y divide-border" onSubmit={(event) => void pay(event)} noValidate>
        <section className="p-5 sm:p-6">
          <h2 className="text-base font-semibold">1. {t.topUp.amountStep}</h2>
          <label htmlFor="amount" className="sr-only">
            {t.topUp.amountLabel(currency)}
          </label>
          <div
            className={cx(
              'mt-4 flex items-baseline gap-2 border-b-2 pb-2 transition-colors focus-within:border-primary',
              shownComplaint ? 'border-danger' : 'border-control',
            )}
          >
            <input
              ref={input}
              id="amount"
              inputMode={exponents[currency] === 0 ? 'numeric' : 'decimal'}
              autoComplete="off"
              placeholder="0"
              value={groupTyped(text, currency, language)}
              aria-invalid={shownComplaint ? true : undefined}
              aria-describedby="amount-hint"
              onChange={(event) => type(event.target.value)}
              onBlur={() => setTouched(true)}
              onFocus={() => setTouched(false)}
              className="num w-full min-w-0 bg-transparent text-[2.5rem]/[3rem] font-semibold tracking-[-.03em] outline-none placeholder:text-ink-3/60 max-[399px]:text-[2rem]"
            />
            <span aria-hidden className="text-xl font-medium text-ink-3">
              {currency === 'VND' ? 'đ' : currency}
            </span>
          </div>
          <p id="amount-hint" className={cx('num mt-2 text-xs', shownComplaint ? 'font-medium text-danger' : 'text-ink-3')}>
            {shownComplaint ?? t.topUp.amountHint(money(offer.min, currency), money(offer.max, currency))}
          </p>
          <fieldset className="mt-4">
            <legend className="sr-only">{t.topUp.presets}</legend>
            <div className="grid grid-cols-2 gap-2 sm:grid-cols-4">
              {offer.presets.map((preset) => (
                <RadioCard
                  key={preset}
                  name="preset"
                  value={String(preset)}
                  checked={amount === preset && problem === undefined}
                  corner={false}
                  onChange={() => {
                    setText(toMajor(preset, currency).replace(/\.00$/, ''))
                    setRefusal(undefined)
                  }}
                >
                  <span className="num grid h-11 flex-1 place-items-center text-sm font-medium group-has-checked:font-semibold group-has-checked:text-primary-ink sm:h-10">
                    {money(preset, currency)}
                  </span>
                </RadioCard>
              ))}
              <button
                type="button"
                onClick={() => {
                  setText('')
                  input.current?.focus()
                }}
                className="h-11 rounded-lg text-sm font-medium text-ink-2 shadow-[inset_0_0_0_1px_color-mix(in_srgb,var(--control)_62%,var(--surface))] hover:bg-subtle sm:h-10"
              >
                {t.topUp.custom}
              </button>
            </div>
          </fieldset>
        </section>
        {amount > 0 ? (
          <section className="p-5 sm:p-6">
            <div className="flex flex-wrap items-center justify-between gap-3">
              <h2 className="text-base font-semibold">2. {t.topUp.typeStep}</h2>
              <Badge>{t.topUp.local}</Badge>
            </div>
            <fieldset className="mt-4">
              <legend className="sr-only">{t.topUp.typeStep}</legend>
              <div className="grid gap-2.5 sm:grid-cols-2">
                {types.map((entry, index) => (
                  <TypeCard
                    key={entry.id}
                    type={entry}
                    wide={index === 0 && types.length % 2 === 1}
                    checked={entry.id === typeId}
                    onChoose={() => setTypeId(entry.id)}
                  />
                ))}
              </div>
            </fieldset>
            {refusal ? (
              <Note tone="danger" role="alert" className="mt-4">
                {refusal}
              </Note>
            ) : null}
          </section>
        ) : null}
      </form>
      <aside aria-label={t.topUp.summary} className="card sticky top-20 p-5 max-lg:hidden">
        <h2 className="text-base font-semibold">{t.topUp.summary}</h2>
        <dl className="num mt-4 grid gap-2.5 text-sm">
          <div className="flex justify-between">
            <dt className="text-ink-2">{t.topUp.current}</dt>
            <dd>{money(user.balance, currency)}</dd>
          </div>
          <div className="flex justify-between">
            <dt className="text-ink-2">{t.topUp.added}</dt>
            <dd className={amount > 0 ? 'font-medium text-success' : 'text-ink-3'}>
              {amount > 0 ? '+' : ''}
              {money(amount, currency)}
            </dd>
          </div>
          <div className="flex justify-between">
            <dt className="text-ink-2">{t.topUp.fee}</dt>
            <dd>{money(0, currency)}</dd>
          </div>
          <div className="mt-1 flex items-baseline justify-between border-t border-border pt-3.5">
            <dt className="font-medium">{t.topUp.next}</dt>
            <dd className="text-xl font-semibold tracking-[-.015em]">{money(user.balance + amount, currency)}</dd>
          </div>
        </dl>
        <Button type="submit" form="top-up" size="lg" busy={busy} disabled={problem !== undefined || !chosen} className="num mt-5 w-full">
          <Lock aria-hidden className="size-4" />
          {payLabel}
        </Button>
        {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
        <p role="status" className="mt-4 flex gap-2 text-xs text-ink-3">
          <ShieldCheck aria-hidden className="size-4 shrink-0 text-success" />
          {busy ? t.topUp.leaving : t.topUp.safe}
        </p>
      </aside>
      <div className="no-print fixed inset-x-0 bottom-0 z-20 border-t border-border bg-surface/95 p-3 pb-[max(.75rem,env(safe-area-inset-bottom))] backdrop-blur lg:hidden">
        <div className="mx-auto flex max-w-xl items-center gap-3">
          <p className="text-xs whitespace-nowrap text-ink-3">
            {t.topUp.next}
            <span className="num block text-base font-semibold text-ink">{money(user.balance + amount, currency)}</span>
          </p>
          <Button
            type="submit"
            form="top-up"
            size="lg"
            busy={busy}
            disabled={problem !== undefined || !chosen}
            className="num min-w-0 flex-1 px-2"
          >
            <span className="truncate">{payLabel}</span>
          </Button>
        </div>
      </div>
    </div>
  )
}

function TypeCard({ type, wide, checked, onChoose }: { type: PaymentType; wide: boolean; checked: boolean; onChoose: () => void }) {
  const t = useTexts()
  const { language } = useFormat()
  const Icon = icons[type.id] ?? Banknote
  const texts: Record<string, string> = t.topUp.methods
  const hint = type.method === 'BANKTRANSFER' ? t.topUp.methods.bank : texts[type.id]
  return (
    <RadioCard
      name="type"
      value={String(type.id)}
      checked={checked}
      onChange={onChoose}
      className={cx('items-center gap-3 p-3.5 pr-11', wide && 'sm:col-span-2')}
    >
      <span
        aria-hidden
        className="grid size-10 shrink-0 place-items-center rounded-md bg-subtle text-ink-2 group-has-checked:bg-primary group-has-checked:text-white"
      >
        <Icon className="size-5" strokeWidth={1.75} />
      </span>
      <span className="min-w-0">
        <span className="flex flex-wrap items-center gap-x-2 text-sm font-medium">
          {type.name[sentenceLanguage(language)]}
          {type.id === fastest ? (
            <Badge tone="success" className="h-5">
              {t.topUp.fastest}
            </Badge>
          ) : null}
        </span>
        {hint ? <span className="mt-0.5 block text-xs text-ink-3">{hint}</span> : null}
      </span>
    </RadioCard>
  )
}
