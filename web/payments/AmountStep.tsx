import { useRef, useState } from 'react'
import { exponents, toMajor, type Currency } from '../../contract/money.ts'
import type { Config } from '../../contract/system.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { cx } from '../ui/cx.ts'
import { RadioCard } from '../ui/RadioCard.tsx'
import { groupTyped, plainTyped } from './typed-amount.ts'

interface AmountStepProps {
  offer: Config['payments'][string]
  currency: Currency
  /** Major units, as typed. */
  text: string
  /** Minor units. */
  amount: number
  /** What is wrong with the amount. While the user types, "too small" is not reported yet. */
  complaint: string | undefined
  tooSmall: boolean
  onType: (text: string) => void
}

export function AmountStep({
  offer,
  currency,
  text,
  amount,
  complaint,
  tooSmall,
  onType,
}: AmountStepProps) {
  const t = useTexts('topUp')
  const { money, language } = useFormat()
  const input = useRef<HTMLInputElement>(null)
  const [touched, setTouched] = useState(false)
  const shownComplaint = tooSmall && !touched ? undefined : complaint
  return (
    <section className="p-5 sm:p-6">
      <h2 className="text-base font-semibold">1. {t.topUp.amountStep}</h2>
      <label htmlFor="amount" className="sr-only">
        {t.topUp.amountLabel(currency)}
      </label>
      <div
        className={cx(
          'mt-4 flex items-baseline gap-2 border-b-2 pb-2 transition-colors ' +
            'focus-within:border-primary',
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
          onChange={(event) => onType(plainTyped(event.target.value, currency, language))}
          onBlur={() => setTouched(true)}
          onFocus={() => setTouched(false)}
          className={
            'num w-full min-w-0 bg-transparent text-[2.5rem]/[3rem] font-semibold ' +
            'tracking-[-.03em] outline-none placeholder:text-ink-3/60 ' +
            'max-[25rem]:text-[2rem]'
          }
        />
        <span aria-hidden className="text-xl font-medium text-ink-3">
          {currency === 'VND' ? 'đ' : currency}
        </span>
      </div>
      <p
        id="amount-hint"
        className={cx(
          'num mt-2 text-xs',
          shownComplaint ? 'font-medium text-danger' : 'text-ink-3',
        )}
      >
        {shownComplaint ??
          t.topUp.amountHint(money(offer.min, currency), money(offer.max, currency))}
      </p>
      <fieldset className="@container mt-4">
        <legend className="sr-only">{t.topUp.presets}</legend>
        <div className="grid grid-cols-2 gap-2 @lg:grid-cols-4">
          {offer.presets.map((preset) => (
            <RadioCard
              key={preset}
              name="preset"
              value={String(preset)}
              checked={amount === preset && complaint === undefined}
              corner={false}
              onChange={() => onType(toMajor(preset, currency).replace(/\.00$/, ''))}
            >
              <span
                className={
                  'num grid h-11 flex-1 place-items-center text-sm font-medium ' +
                  'group-has-checked:font-semibold group-has-checked:text-primary-ink sm:h-10'
                }
              >
                {money(preset, currency)}
              </span>
            </RadioCard>
          ))}
          <button
            type="button"
            onClick={() => {
              onType('')
              input.current?.focus()
            }}
            className={
              'h-11 rounded-lg text-sm font-medium text-ink-2 ' +
              'shadow-[inset_0_0_0_1px_color-mix(in_srgb,var(--control)_62%,var(--surface))] ' +
              'hover:bg-subtle sm:h-10'
            }
          >
            {t.topUp.custom}
          </button>
        </div>
      </fieldset>
    </section>
  )
}
