import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { setAutoTopUp, type AutoTopUp } from '../../contract/auto-top-up.ts'
import { exponents, toMajor, toMinor, type Currency } from '../../contract/money.ts'
import { FormFailure } from '../account/FormFailure.tsx'
import { Attempt, messageOf } from '../api.ts'
import { useForm } from '../form.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, Input, Select } from '../ui/Field.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { autoTopUpQuery, useAutoTopUpTexts } from './auto-top-up-queries.ts'
import { cardsQuery } from './card-queries.ts'
import { brandName } from './CardBrand.tsx'
import { groupTyped, plainTyped } from './typed-amount.ts'

/** Minor units; undefined where the text is empty or no amount. */
const amountIn = (text: string, currency: Currency): number | undefined =>
  toMinor(text.endsWith('.') ? text.slice(0, -1) : text, currency)
const typed = (amount: number, currency: Currency): string =>
  toMajor(amount, currency).replace(/\.00$/, '')

/** The form of the rule and the consent. A customer without a card is sent to link one. */
export function AutoTopUpDialog({ of, onClose }: { of: AutoTopUp; onClose: () => void }) {
  const t = useTexts()
  const words = useAutoTopUpTexts()
  const cards = useQuery(cardsQuery)
  const [isBusy, setIsBusy] = useState(false)
  const hasCards = (cards.data?.length ?? 0) > 0
  return (
    <Dialog
      open
      onClose={onClose}
      busy={isBusy}
      title={words.title}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="ghost" disabled={isBusy} onClick={onClose}>
            {t.common.cancel}
          </Button>
          {hasCards ? (
            <Button type="submit" form="auto-top-up" busy={isBusy}>
              {of.rule?.off === null ? words.keep : words.save}
            </Button>
          ) : null}
        </>
      }
    >
      {cards.isPending ? <SkeletonRows rows={3} /> : null}
      {!cards.data && cards.error ? (
        <LoadError
          text={messageOf(cards.error)}
          retryLabel={t.common.retry}
          onRetry={() => void cards.refetch()}
        />
      ) : null}
      {cards.data && !hasCards ? (
        <div className="grid justify-items-start gap-3">
          <p className="text-sm text-ink-2">{words.noCard}</p>
          <Link to="/link-card" search={{}} className={buttonClass('outline')}>
            {words.linkCard}
          </Link>
        </div>
      ) : null}
      {cards.data && hasCards ? (
        <Form
          of={of}
          cards={cards.data.map(({ id, card }) => ({
            id,
            name: words.ends(brandName(card.brand), card.last4),
          }))}
          onBusy={setIsBusy}
          onDone={onClose}
        />
      ) : null}
    </Dialog>
  )
}

function Form({
  of: { rule, currency, min, max },
  cards,
  onBusy,
  onDone,
}: {
  of: AutoTopUp
  /** The default card first. */
  cards: readonly { id: string; name: string }[]
  onBusy: (isBusy: boolean) => void
  onDone: () => void
}) {
  const t = useTexts()
  const words = useAutoTopUpTexts()
  const { money, language } = useFormat()
  const queryClient = useQueryClient()
  const [attempt] = useState(() => new Attempt())
  const linked = cards.find(({ id }) => id === rule?.card.id) ?? cards[0]
  const { form, values, errors, failure, set, onSubmit } = useForm({
    initial: {
      below: rule ? typed(rule.below, currency) : typed(min, currency),
      amount: rule ? typed(rule.amount, currency) : typed(2 * min, currency),
      monthLimit: rule ? typed(rule.monthLimit, currency) : typed(20 * min, currency),
      cardId: linked?.id ?? '',
      consent: false,
    },
    schema: setAutoTopUp.body,
    keep: ['below', 'amount', 'monthLimit'],
    body: (now) => ({
      ...now,
      below: amountIn(now.below, currency),
      amount: amountIn(now.amount, currency),
      monthLimit: amountIn(now.monthLimit, currency),
    }),
    submit: async (body) => {
      onBusy(true)
      try {
        queryClient.setQueryData(autoTopUpQuery.queryKey, await attempt.run(setAutoTopUp, { body }))
        toast.success(t.toast.success, words.saved)
        onDone()
      } finally {
        onBusy(false)
      }
    },
  })
  const amount = (key: 'below' | 'amount' | 'monthLimit', hint: string) => (
    <Field label={words[key]} error={errors[key]} hint={hint} aside={currency}>
      {(control) => (
        <Input
          {...control}
          name={key}
          inputMode={exponents[currency] === 0 ? 'numeric' : 'decimal'}
          autoComplete="off"
          value={groupTyped(values[key], currency, language)}
          onChange={({ target }) => set(key, plainTyped(target.value, currency, language))}
          className="num"
        />
      )}
    </Field>
  )
  return (
    <form
      ref={form}
      id="auto-top-up"
      noValidate
      onSubmit={(event) => void onSubmit(event)}
      className="grid gap-4"
    >
      <FormFailure failure={failure} />
      {amount('below', words.belowHint)}
      {amount('amount', words.amountHint(money(min, currency), money(max, currency)))}
      {amount('monthLimit', words.monthHint)}
      <Field label={words.card} error={errors['cardId']}>
        {(control) => (
          <Select
            {...control}
            name="cardId"
            value={values.cardId}
            onChange={({ target }) => set('cardId', target.value)}
          >
            {cards.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Checkbox
        label={words.consent}
        hint={words.consentHint}
        error={errors['consent']}
        checked={values.consent}
        onChange={(given) => set('consent', given)}
      />
    </form>
  )
}
