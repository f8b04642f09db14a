import { Check, Circle, Cpu, MemoryStick, RefreshCw } from 'lucide-react'
import { memo, useDeferredValue, useId, useState, type ReactNode } from 'react'
import type * as z from 'zod/mini'
import { effectivePlanPrice } from '../../contract/pricing.ts'
import { ruleText } from '../../contract/sentences.ts'
import {
  adminUser,
  passwordChecks,
  passwordHolds,
  type Plan,
  type Region,
} from '../../contract/wordpress.ts'
import { useFormat } from '../format.ts'
import { sentenceLanguage, useTexts } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'
import { cx } from '../ui/cx.ts'
import { Field, Input, PasswordInput } from '../ui/Field.tsx'
import { Flag } from '../ui/Flag.tsx'
import { RadioCard } from '../ui/RadioCard.tsx'
import { generatePassword } from './order-form.ts'

interface SectionProps {
  number: number
  title: string
  hint?: string | undefined
  done: boolean
  children: ReactNode
}

/** One numbered part of the order; its number becomes a tick when it is complete. */
export function Section({ number, title, hint, done, children }: SectionProps) {
  const id = useId()
  return (
    <section
      aria-labelledby={id}
      className="grid gap-x-4 p-5 sm:grid-cols-[28px_minmax(0,1fr)] sm:p-6"
    >
      <span
        aria-hidden
        className={cx(
          'num mt-px grid size-6 place-items-center rounded-full text-xs font-semibold ' +
            'max-sm:hidden',
          done ? 'bg-success-soft text-success' : 'bg-subtle text-ink-2',
        )}
      >
        {done ? <Check className="size-3.5" strokeWidth={3} /> : number}
      </span>
      <div className="min-w-0">
        <h2 id={id} className="text-base font-semibold">
          {title}
        </h2>
        {hint ? <p className="num mt-0.5 text-xs text-ink-3">{hint}</p> : null}
        <div className="mt-4">{children}</div>
      </div>
    </section>
  )
}

export function FieldComplaint({ text }: { text: string | undefined }) {
  return text ? (
    <p role="alert" className="mt-2 text-xs font-medium text-danger">
      {text}
    </p>
  ) : null
}

interface RegionsProps {
  regions: z.output<typeof Region>[]
  value: number | undefined
  onChange: (id: number) => void
}

export const Regions = memo(function Regions({ regions, value, onChange }: RegionsProps) {
  const t = useTexts('servers')
  return (
    <fieldset className="@container">
      <legend className="sr-only">{t.order.dataCenter}</legend>
      <div className="grid grid-cols-2 gap-2.5 max-[22.5rem]:grid-cols-1 @lg:grid-cols-3">
        {regions.map((region) => (
          <RadioCard
            key={region.id}
            name="region"
            value={String(region.id)}
            checked={value === region.id}
            onChange={() => onChange(region.id)}
            className="min-h-12 items-center gap-2.5 py-3 pr-9 pl-3 [&>span:last-child]:top-[15px]"
          >
            <Flag country={region.country} />
            <span className="text-sm leading-[1.15rem] font-medium">{region.name}</span>
          </RadioCard>
        ))}
      </div>
    </fieldset>
  )
})

interface PlansProps {
  plans: Plan[]
  value: number | undefined
  onChange: (id: number) => void
}

export const Plans = memo(function Plans({ plans, value, onChange }: PlansProps) {
  const t = useTexts('servers')
  const { money, ram } = useFormat()
  return (
    <fieldset className="@container">
      <legend className="sr-only">{t.order.plan}</legend>
      <div className="grid gap-2.5 @md:grid-cols-2 @md:[&>:last-child:nth-child(odd)]:col-span-2">
        {plans.map((plan) => {
          const price = effectivePlanPrice(plan)
          const onSale = price < plan.price
          return (
            <RadioCard
              key={plan.id}
              name="plan"
              value={String(plan.id)}
              checked={value === plan.id}
              onChange={() => onChange(plan.id)}
              className="flex-col p-4"
            >
              <span className="flex min-h-6 items-center gap-2 pr-6 text-sm font-semibold">
                {plan.name}
                {onSale ? (
                  <Badge tone="success" className="num h-5">
                    {`−${Math.round((1 - price / plan.price) * 100)}%`}
                  </Badge>
                ) : null}
              </span>
              <span className="num mt-1 flex gap-3 text-xs text-ink-2">
                <span className="flex items-center gap-1">
                  <Cpu aria-hidden className="size-3.5 text-ink-3" />
                  {t.server.cpu(plan.cpu)}
                </span>
                <span className="flex items-center gap-1">
                  <MemoryStick aria-hidden className="size-3.5 text-ink-3" />
                  {t.wp.ram(ram(plan.ram))}
                </span>
              </span>
              <span className="num mt-3 flex flex-wrap items-baseline gap-x-1.5">
                <span className="text-lg font-semibold tracking-[-.01em]">
                  {money(price, plan.currency)}
                </span>
                <span className="text-xs text-ink-3 group-has-checked:text-ink-2">
                  {t.common.perMonth}
                </span>
                {onSale ? (
                  <s className="text-xs text-ink-3 group-has-checked:text-ink-2">
                    <span className="sr-only">{t.order.listPrice} </span>
                    {money(plan.price, plan.currency)}
                  </s>
                ) : null}
              </span>
            </RadioCard>
          )
        })}
      </div>
    </fieldset>
  )
})

interface AdminProps {
  user: string
  password: string
  onUser: (user: string) => void
  onPassword: (password: string) => void
  /** The server's errors about user name and password. */
  userRefused: string | undefined
  passwordRefused: string | undefined
}

export const Admin = memo(function Admin({
  user,
  password,
  onUser,
  onPassword,
  userRefused,
  passwordRefused,
}: AdminProps) {
  const t = useTexts('servers')
  const { language } = useFormat()
  const words = sentenceLanguage(language)
  const [revealed, setRevealed] = useState(false)
  // A typed letter appears in its own frame; the message about it follows in the next.
  const name = useDeferredValue(user)
  const secret = useDeferredValue(password)
  const userError =
    userRefused ??
    (name !== '' && !adminUser.safeParse(name).success
      ? ruleText('wordpress_user', words)
      : undefined)
  const passwordError =
    passwordRefused ??
    (secret !== '' && !passwordHolds(secret) ? ruleText('wordpress_password', words) : undefined)
  const generate = () => {
    onPassword(generatePassword())
    setRevealed(true)
  }
  return (
    <>
      <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,13rem),1fr))] gap-4">
        <Field label={t.order.user} error={userError}>
          {(control) => (
            <Input
              {...control}
              name="user"
              value={user}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              onChange={(event) => onUser(event.target.value)}
            />
          )}
        </Field>
        <Field label={t.order.password} error={passwordError}>
          {(control) => (
            <PasswordInput
              {...control}
              name="password"
              value={password}
              autoComplete="new-password"
              showLabel={t.common.showPassword}
              revealed={revealed}
              onReveal={setRevealed}
              onChange={(event) => onPassword(event.target.value)}
              extra={
                <button
                  type="button"
                  aria-label={t.order.generate}
                  title={t.order.generate}
                  onClick={generate}
                  className={
                    'grid size-8 place-items-center rounded-md text-ink-3 hover:bg-subtle ' +
                    'hover:text-ink'
                  }
                >
                  <RefreshCw aria-hidden className="size-4" />
                </button>
              }
            />
          )}
        </Field>
      </div>
      <PasswordChecks password={secret} />
    </>
  )
})

const PasswordChecks = memo(function PasswordChecks({ password }: { password: string }) {
  const t = useTexts('servers')
  // "A non-letter" has no line of its own, because a digit always satisfies it.
  const checks: [string, boolean][] = [
    [t.order.checkLength, passwordChecks.length(password)],
    [t.order.checkDigit, passwordChecks.digit(password)],
    [t.order.checkSpecial, passwordChecks.special(password)],
  ]
  return (
    <ul className="mt-3 flex flex-wrap gap-x-4 gap-y-1.5 text-xs">
      {checks.map(([label, met]) => (
        <li
          key={label}
          className={cx('flex items-center gap-1.5', met ? 'text-success' : 'text-ink-3')}
        >
          {met ? (
            <Check aria-hidden className="size-3.5" strokeWidth={3} />
          ) : (
            <Circle aria-hidden className="size-3" />
          )}
          {label}
          <span className="sr-only">{`: ${met ? t.order.met : t.order.notMet}`}</span>
        </li>
      ))}
    </ul>
  )
})
