import { formatMoney, toMinor, withoutGroups, type Currency } from '../../contract/money.ts'
import { cx } from '../ui/cx.ts'
import { useDeskLanguage, useDeskTexts } from './language.ts'

/** A wallet before money is moved by hand. */
export interface WalletBefore {
  readonly balance: number
  /** On a credit line: what comes in pays it first. */
  readonly owed: number
  /** 1 into the wallet, -1 out of it. */
  readonly sign: 1 | -1
}

/** Beside an amount that is typed: what the wallet holds now, and would hold then. */
export function BalanceAfter({
  of: { balance, owed, sign },
  typed,
  currency,
}: {
  of: WalletBefore
  typed: string
  currency: Currency
}) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const amount = toMinor(withoutGroups(typed.trim(), currency), currency)
  const after =
    amount === undefined
      ? undefined
      : balance + sign * amount - (sign > 0 ? Math.min(amount, owed) : 0)
  const facts = [
    [t.customer.balanceNow, balance],
    [t.customer.balanceAfter, after],
  ] as const
  return (
    <dl className="num grid gap-1 rounded-lg bg-subtle px-3.5 py-2.5 text-sm dark:bg-white/5">
      {facts.map(([name, money]) => (
        <div key={name} className="flex items-baseline justify-between gap-4">
          <dt className="text-ink-2">{name}</dt>
          <dd className={cx('font-medium', money !== undefined && money < 0 && 'text-danger')}>
            {money === undefined ? '–' : formatMoney(money, currency, language)}
          </dd>
        </div>
      ))}
    </dl>
  )
}
