import { Fragment, type ReactNode } from 'react'
import type { CreditLine } from '../../contract/billing.ts'
import { formatMoney, type Currency } from '../../contract/money.ts'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import type { OperatorTexts } from '../i18n/en-operator.ts'
import { Badge, type Tone } from '../ui/Badge.tsx'
import { Card } from '../ui/Card.tsx'
import { Changes } from './Changes.tsx'
import { dayOf, timeOf, useDeskLanguage, useDeskTexts } from './language.ts'
import { DeskLink } from './path.tsx'

/**
 * A word of the server in the reader's language, or the word itself where there is no translation.
 */
export const wordOf = (t: OperatorTexts, word: string): string => t.words[word] ?? word

/** States with a colour; all others are grey. */
const tones: Readonly<Record<string, Tone>> = {
  succeeded: 'success',
  paid: 'success',
  running: 'success',
  failed: 'danger',
  given_up: 'danger',
  pending: 'info',
  provisioning: 'info',
  open: 'warning',
  pending_payment: 'warning',
  suspended: 'warning',
}
/** A state in words and in its colour. */
export const badgeOf = (t: OperatorTexts, state: string): Pick<Row, 'badge' | 'tone'> => ({
  badge: wordOf(t, state),
  tone: tones[state] ?? 'neutral',
})

export interface Row {
  readonly key: string
  readonly main: string
  /** The page of what the row names. */
  readonly to?: string
  readonly sub?: string
  readonly end?: string
  readonly badge?: string
  readonly tone?: Tone
  readonly action?: ReactNode
}
interface Story {
  of: CustomerStory
}

const rowClass = 'flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-border px-5 py-2.5'

const separator = ' · '
/** Facts on one line as far as they fit; a date is not broken at its hyphens. */
function Facts({ of: facts }: { of: readonly string[] }) {
  return (
    <span className="num block text-xs [overflow-wrap:anywhere] text-ink-3">
      {facts.map((fact, index) => (
        <Fragment key={facts.slice(0, index + 1).join(separator)}>
          {index === 0 ? null : separator}
          <span className="inline-block max-w-full">{fact}</span>
        </Fragment>
      ))}
    </span>
  )
}

/** A card with a short list, or a text for an empty one; `more`: what stands below the rows. */
export function ListCard({
  title,
  sub: about,
  rows,
  more,
}: {
  title: string
  sub?: string
  rows: readonly Row[]
  more?: ReactNode
}) {
  const t = useDeskTexts()
  return (
    <Card title={title} {...(about !== undefined && { sub: about })} padded={false}>
      {rows.length === 0 ? <p className="px-5 pb-4 text-sm text-ink-3">{t.none}</p> : null}
      <ul>
        {rows.map(({ key, main, to, sub, end, badge, tone = 'neutral', action }) => (
          <li key={key} className={rowClass}>
            <span className="min-w-0 flex-1 basis-40">
              {to === undefined ? (
                <span className="block text-sm font-medium break-words">{main}</span>
              ) : (
                <DeskLink
                  to={to}
                  className="block text-sm font-medium break-words text-primary-ink hover:underline"
                >
                  {main}
                </DeskLink>
              )}
              {sub ? <Facts of={sub.split(separator)} /> : null}
            </span>
            <span className="flex flex-col items-end gap-1">
              {end ? <span className="num text-sm whitespace-nowrap">{end}</span> : null}
              {badge ? (
                <Badge tone={tone} dot={tone !== 'neutral'}>
                  {badge}
                </Badge>
              ) : null}
            </span>
            {action}
          </li>
        ))}
      </ul>
      {more}
    </Card>
  )
}

export function WalletCard({ of }: Story) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const [wallet] = of.wallets
  if (!wallet) return <ListCard title={t.customer.money} rows={[]} />
  const { balance, currency } = wallet
  return (
    <Card title={t.customer.money} padded={false}>
      <p className="num px-5 pb-3 text-2xl font-semibold" aria-label={t.customer.balance}>
        {formatMoney(balance, currency, language)}
      </p>
      {wallet.creditLine ? <LineFacts line={wallet.creditLine} currency={currency} /> : null}
      {of.autoTopUp ? <AutoTopUpFacts of={of.autoTopUp} currency={currency} /> : null}
    </Card>
  )
}

export function EntriesCard({ of }: Story) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const [wallet] = of.wallets
  if (!wallet) return null
  const { currency, entries } = wallet
  return (
    <Card title={t.customer.entries} padded={false}>
      {entries.length === 0 ? <p className="px-5 pb-4 text-sm text-ink-3">{t.none}</p> : null}
      <ul>
        {entries.map(({ id, at, text, amount, balance: after }) => (
          <li key={id} className={rowClass}>
            <span className="min-w-0 flex-1">
              <span className="block text-sm break-words">{text}</span>
              <span className="num block text-xs text-ink-3">{timeOf(at)}</span>
            </span>
            <span className="num text-right text-sm whitespace-nowrap">
              <span className={amount > 0 ? 'text-success' : ''}>
                {`${amount > 0 ? '+' : ''}${formatMoney(amount, currency, language)}`}
              </span>
              <span className="block text-xs text-ink-3">
                {formatMoney(after, currency, language)}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Pairs({ of }: { of: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl className="num grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
      {of.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-3">{name}</dt>
          <dd className="break-words">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** The customer's rule of automatic top-up, and the last failure. */
function AutoTopUpFacts({
  of: { amount, below, monthLimit, card, off, lastFailure },
  currency,
}: {
  of: NonNullable<CustomerStory['autoTopUp']>
  currency: Currency
}) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const words = t.money.autoTopUp
  const money = (minor: number): string => formatMoney(minor, currency, language)
  return (
    <div className="border-t border-border px-5 py-3">
      <Pairs
        of={[
          [words.title, words.on(money(amount), money(below), money(monthLimit))],
          [words.card, card],
          ...(off ? [[words.off, `${timeOf(off.at)} · ${off.reason}`] as const] : []),
          ...(lastFailure
            ? [[words.failed, `${timeOf(lastFailure.at)} · ${lastFailure.detail}`] as const]
            : []),
        ]}
      />
    </div>
  )
}

/** The credit line of a wallet, and what is owed on it. */
function LineFacts({ line, currency }: { line: CreditLine; currency: Currency }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const words = t.money.credit
  const money = (amount: number): string => formatMoney(amount, currency, language)
  const facts = [
    [words.line, line.limit > 0 ? words.limit(money(line.limit), line.termDays ?? 0) : words.ended],
    [
      words.owed,
      line.dueAt === null ? money(0) : `${money(line.owed)}, ${words.due(dayOf(line.dueAt))}`,
    ],
    [words.available, money(line.available)],
  ] as const
  return (
    <div className="grid gap-2 border-t border-border px-5 py-3">
      <Pairs of={facts} />
      {line.stopped === null ? null : (
        <span>
          <Badge tone="danger" dot>
            {words.stopped[line.stopped]}
          </Badge>
        </span>
      )}
    </div>
  )
}

export function NotesCard({ of }: Story) {
  const t = useDeskTexts()
  const facts = [
    [t.customer.language, languageOf(of, t)],
    [t.customer.region, of.region],
    [t.customer.company, of.company],
    [t.customer.taxCode, of.taxCode],
  ] as const
  return (
    <Card title={t.customer.notes}>
      <ul className="grid gap-3">
        {of.notes.map(({ id, at, by, text }) => (
          <li key={id} className="rounded-lg bg-subtle px-3 py-2">
            <p className="text-sm break-words whitespace-pre-line">{text}</p>
            <p className="num mt-1 text-xs text-ink-3">{`${by} · ${timeOf(at)}`}</p>
          </li>
        ))}
      </ul>
      {of.notes.length === 0 ? <p className="text-sm text-ink-3">{t.none}</p> : null}
      <dl className="mt-4 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
        {facts.map(([name, value]) =>
          value === null ? null : (
            <div key={name} className="contents">
              <dt className="text-ink-3">{name}</dt>
              <dd className="break-words">{value}</dd>
            </div>
          ),
        )}
      </dl>
    </Card>
  )
}
function languageOf(of: CustomerStory, t: OperatorTexts): string {
  const known = of.language as keyof typeof t.languages | null
  return known === null ? t.customer.byRegion : t.languages[known]
}

const toneOf: Readonly<Record<string, 'success' | 'info'>> = {
  succeeded: 'success',
  viewed: 'info',
}
export function AccessCard({ of }: Story) {
  const t = useDeskTexts()
  const { app, passkeys, recoveryCodes } = of.secondFactor
  const factors = [
    ...(app ? [t.customer.app] : []),
    ...(passkeys > 0 ? [t.customer.passkeys(passkeys)] : []),
    ...(recoveryCodes > 0 ? [t.customer.codes(recoveryCodes)] : []),
  ]
  return (
    <Card title={t.customer.access} sub={t.customer.sessions(of.sessions.length)} padded={false}>
      <p className="px-5 pb-3 text-sm">
        <span className="text-ink-3">{`${t.customer.factor}: `}</span>
        {factors.length === 0 ? t.customer.noFactor : factors.join(', ')}
      </p>
      <p className="px-5 pb-2 text-xs text-ink-3">{t.customer.signIns}</p>
      <ul>
        {of.signIns.map(({ id, at, ip, userAgent, outcome }) => (
          <li key={id} className={rowClass}>
            <span className="min-w-0 flex-1">
              <span className="num block text-sm">
                {ip === '' ? timeOf(at) : `${timeOf(at)} · ${ip}`}
              </span>
              <span className="block truncate text-xs text-ink-3" title={userAgent}>
                {userAgent}
              </span>
            </span>
            <Badge tone={toneOf[outcome] ?? 'danger'} dot>
              {wordOf(t, outcome)}
            </Badge>
          </li>
        ))}
      </ul>
    </Card>
  )
}

export function ActsCard({ of }: Story) {
  const t = useDeskTexts()
  return (
    <Card title={t.customer.acts} padded={false}>
      {of.acts.length === 0 ? <p className="px-5 pb-4 text-sm text-ink-3">{t.none}</p> : null}
      <ul>
        {of.acts.map(({ seq, at, actor, approvedBy, act, reason, before, after }) => (
          <li key={seq} className="grid gap-2 border-t border-border px-5 py-3 sm:grid-cols-2">
            <span className="min-w-0">
              <span className="block text-sm font-medium">{t.acts[act] ?? act}</span>
              <span className="num block text-xs text-ink-3">
                {`${actor}${approvedBy === null ? '' : `, ${t.trail.with(approvedBy)}`} · `}
                {timeOf(at)}
              </span>
              {reason === null ? null : <span className="block text-sm break-words">{reason}</span>}
            </span>
            <Changes before={before} after={after} />
          </li>
        ))}
      </ul>
    </Card>
  )
}
