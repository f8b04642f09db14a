import { useQuery } from '@tanstack/react-query'
import {
  currencies,
  currency as currencyOf,
  formatMoney,
  type Currency,
} from '../../contract/money.ts'
import type { TrailAct } from '../../contract/operator-desk.ts'
import type { OperatorTexts } from '../i18n/en-operator.ts'
import { catalogQuery } from './catalog/queries.ts'
import { timeOf, useDeskLanguage, useDeskTexts, type DeskLanguage } from './language.ts'

type Facts = Readonly<Record<string, unknown>>

/** Flattens nested facts, such as those of a proposal, into one list. */
const flat = (facts: Facts | null): Facts =>
  Object.fromEntries(
    Object.entries(facts ?? {}).flatMap(([name, value]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(flat(value as Facts))
        : [[name, value] as const],
    ),
  )

interface Reader {
  readonly t: OperatorTexts
  readonly language: DeskLanguage
  readonly currency: Currency | undefined
  /** The name of a plan by its id. */
  readonly planName: (id: unknown) => string
}
const amounts: ReadonlySet<string> = new Set(['balance', 'amount', 'setOff', 'limit', 'owed'])

function shown(name: string, value: unknown, reader: Reader): string {
  const { t, language, currency } = reader
  if (name === 'plans' && (value === null || Array.isArray(value))) {
    const plans: readonly unknown[] = value ?? []
    return plans.map((id) => reader.planName(id)).join(', ') || t.money.coupons.everyPlan
  }
  if (value === null || value === undefined) return '–'
  if (typeof value === 'boolean') return value ? t.yes : t.no
  if (amounts.has(name) && typeof value === 'number' && currency)
    return formatMoney(value, currency, language)
  // Sums by currency.
  const named = currencies.find((each) => each === name)
  if (named && typeof value === 'number') return formatMoney(value, named, language)
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.join(', ')
  if (typeof value !== 'string') return JSON.stringify(value)
  if (name === 'poweredOff' || name === 'letters') return value === 'yes' ? t.yes : t.no
  if (name === 'expiresAt' || name === 'countsAt') return timeOf(value)
  const words: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    act: t.acts,
    role: t.roles,
    language: t.languages,
    ...t.codes,
  }
  return words[name]?.[value] ?? value
}

const isId = (value: unknown): boolean =>
  typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)

/**
 * What an act changed or would change: each fact before and after. Ids are omitted, because they
 * tell a reader nothing, and so are the facts in `said`, which are shown elsewhere.
 */
export function Changes({
  before,
  after,
  said = [],
  isEmptySaid = false,
}: Pick<TrailAct, 'before' | 'after'> & {
  said?: readonly string[]
  /** Shows a text when no fact changes. */
  isEmptySaid?: boolean
}) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const [was, is] = [flat(before), flat(after)]
  const currency = currencyOf.safeParse(is['currency'] ?? was['currency']).data
  const namesPlans = Array.isArray(was['plans'] ?? is['plans'])
  const { data } = useQuery({ ...catalogQuery, enabled: namesPlans })
  const planName = (id: unknown): string =>
    data?.selling.plans.find((plan) => plan.id === id)?.name ?? String(id)
  const reader = { t, language, currency, planName }
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (name) => name in t.facts && !isId(is[name]) && !said.includes(name),
  )
  if (names.length === 0)
    return isEmptySaid ? <p className="text-sm text-ink-2">{t.proposals.noFacts}</p> : null
  return (
    <ul className="num grid content-start gap-0.5 text-xs text-ink-2">
      {names.map((name) => {
        // A fact that only one side contains did not change.
        const isChanged =
          name in was && name in is && JSON.stringify(was[name]) !== JSON.stringify(is[name])
        return (
          <li key={name} className="[overflow-wrap:anywhere]">
            <span className="text-ink-3">{`${t.facts[name]}: `}</span>
            {isChanged ? `${shown(name, was[name], reader)} → ` : null}
            {shown(name, name in is ? is[name] : was[name], reader)}
          </li>
        )
      })}
    </ul>
  )
}
