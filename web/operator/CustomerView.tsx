import { useQuery } from '@tanstack/react-query'
import { ChevronDown, X } from 'lucide-react'
import { useState } from 'react'
import type { ActName } from '../../contract/operator-acts.ts'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import type { StaffSession } from '../../contract/operator.ts'
import { mayDo } from '../../contract/staff-roles.ts'
import type { OperatorTexts } from '../i18n/en-operator.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Menu } from '../ui/Menu.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { BackLink } from './BackLink.tsx'
import { ActDialog, type WantedAct } from './ActDialog.tsx'
import { endpointOfAct } from './act-fields.ts'
import {
  AccessCard,
  ActsCard,
  EntriesCard,
  ListCard,
  NotesCard,
  WalletCard,
  badgeOf,
  type Row,
} from './CustomerCards.tsx'
import {
  FoundPayment,
  InvoicesCard,
  PaymentsCard,
  ServersCard,
  type AskAct,
} from './CustomerLists.tsx'
import { dayOf, timeOf, useDeskTexts } from './language.ts'
import { toMajor } from '../../contract/money.ts'
import { useDeskQuery } from './path.tsx'
import { customerQuery } from './queries.ts'
import type { Values } from './use-form.ts'

export function CustomerView({ id, session }: { id: string; session: StaffSession }) {
  const t = useDeskTexts()
  const { data, error, refetch } = useQuery(customerQuery(id))
  return (
    <>
      <BackLink to="/customers" text={t.customer.back} />
      {error && !data ? (
        <Card>
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        </Card>
      ) : null}
      {data ? <Story of={data} session={session} /> : null}
      {(data ?? error) ? null : <SkeletonRows />}
    </>
  )
}

/** So many acts are buttons. */
const buttons = 2

function programRows(
  {
    of: { tokens, webhooks },
    may,
    ask,
  }: { of: CustomerStory; may: (act: ActName) => boolean; ask: AskAct },
  t: OperatorTexts,
): Row[] {
  const revoke = 'customer.revoke_token'
  return [
    ...tokens.map(({ id, name, begins, scopes, expiresAt, lastUsedAt, lastUsedFrom }) => ({
      key: id,
      main: name,
      sub: [
        begins,
        scopes.join(', '),
        t.customer.expires(dayOf(expiresAt)),
        lastUsedAt === null
          ? t.customer.neverUsed
          : t.customer.lastUsed(timeOf(lastUsedAt), lastUsedFrom ?? ''),
      ].join(' · '),
      action: may(revoke) ? (
        <Button
          variant="outline"
          size="sm"
          aria-label={`${t.acts[revoke]}: ${name}`}
          onClick={() => ask(revoke, { about: name, fixed: { token: id } })}
        >
          {t.acts[revoke]}
        </Button>
      ) : null,
    })),
    ...webhooks.map(({ id, host, createdAt, disabled }) => ({
      key: id,
      main: `${t.customer.webhook} · ${host}`,
      sub: timeOf(createdAt),
      badge: disabled === null ? t.customer.webhookOn : t.customer.webhookOff[disabled],
    })),
  ]
}

/** Initial values of an act's fields: the present state. */
function initialOf(act: ActName, { language, wallets: [wallet] }: CustomerStory): Values {
  if (act === 'customer.language' && language !== null) return { language }
  if (act !== 'credit_line.set' || !wallet?.creditLine?.termDays) return {}
  const { limit, termDays } = wallet.creditLine
  return { limit: toMajor(limit, wallet.currency), termDays: String(termDays) }
}

/** What is put in or taken out by hand changes its balance. */
function walletOf(act: ActName, { wallets: [wallet] }: CustomerStory): Pick<WantedAct, 'wallet'> {
  if (!wallet || (act !== 'money.credit' && act !== 'money.debit')) return {}
  const { balance, creditLine } = wallet
  const sign = act === 'money.credit' ? 1 : -1
  return { wallet: { balance, owed: creditLine?.owed ?? 0, sign } }
}

function Story({ of, session }: { of: CustomerStory; session: StaffSession }) {
  const t = useDeskTexts()
  const [wanted, setWanted] = useState<WantedAct>()
  const may = (act: ActName): boolean => mayDo(session.role, endpointOfAct(act).may)
  const currency = of.wallets[0]?.currency
  const ask: AskAct = (act, more = {}) =>
    setWanted({
      act,
      about: of.name,
      fixed: { customer: of.id, ...(/^(?:money|credit_line)\./.test(act) && { currency }) },
      ...(currency && { currency }),
      ...walletOf(act, of),
      ...more,
    })
  const hasFactor = of.secondFactor.app || of.secondFactor.passkeys > 0
  // The most used first: these are the buttons, and the others are behind them.
  const all: ActName[] = [
    ...(of.blockedAt === null ? [] : (['customer.unblock'] as const)),
    ...(currency ? (['money.credit'] as const) : []),
    'customer.note',
    ...(of.blockedAt === null ? (['customer.see'] as const) : []),
    ...(currency ? (['money.debit', 'credit_line.set'] as const) : []),
    'customer.label',
    'customer.language',
    'customer.email',
    ...(of.sessions.length > 0 ? (['customer.end_sessions'] as const) : []),
    ...(of.tokens.length > 0 || of.webhooks.some(({ disabled }) => disabled === null)
      ? (['customer.end_programs'] as const)
      : []),
    ...(hasFactor ? (['customer.reset_second_factor'] as const) : []),
    ...(of.blockedAt === null ? (['customer.block'] as const) : []),
  ]
  const offered = all.filter(may)
  const begin = (act: ActName): void => ask(act, { initial: initialOf(act, of) })
  const lists = { of, may, ask }
  const wantedPayment = useDeskQuery().get('payment')
  return (
    <>
      <PageHead
        title={of.name}
        sub={
          <span className="flex flex-wrap gap-x-4 gap-y-1">
            <span>{of.email}</span>
            <span className="num">{of.phone}</span>
            <span>{t.customer.since(dayOf(of.createdAt))}</span>
            {of.imported?.reference ? (
              <span>{t.imports.reference(of.imported.reference)}</span>
            ) : null}
          </span>
        }
      >
        {of.blockedAt === null ? null : (
          <Badge tone="danger" dot>
            {`${t.customer.blocked} · ${dayOf(of.blockedAt)}`}
          </Badge>
        )}
        {of.imported && of.imported.cameAt === null && of.blockedAt === null ? (
          <Badge tone="warning">{t.imports.notYet}</Badge>
        ) : null}
        {of.active ? null : <Badge tone="warning">{t.customer.inactive}</Badge>}
        {of.labels.map((label) => (
          <Badge key={label} tone="info">
            {label}
            {may('customer.unlabel') ? (
              <button
                type="button"
                aria-label={t.customer.removeLabel(label)}
                className="grid size-6 place-items-center"
                onClick={() => ask('customer.unlabel', { fixed: { customer: of.id, label } })}
              >
                <X aria-hidden className="size-3" />
              </button>
            ) : null}
          </Badge>
        ))}
      </PageHead>
      <fieldset aria-label={t.customer.act} className="mb-5 flex flex-wrap gap-2">
        {offered.slice(0, buttons).map((act) => (
          <Button key={act} variant="outline" size="sm" onClick={() => begin(act)}>
            {t.acts[act]}
          </Button>
        ))}
        {offered.length > buttons ? (
          <Menu
            label={t.customer.moreActs}
            className={buttonClass('outline', 'sm')}
            trigger={
              <>
                {t.customer.moreActs}
                <ChevronDown aria-hidden className="size-4" />
              </>
            }
            items={offered.slice(buttons).map((act) => ({
              label: t.acts[act] ?? act,
              danger: act === 'customer.block',
              onSelect: () => begin(act),
            }))}
          />
        ) : null}
      </fieldset>
      {wantedPayment === null ? null : (
        <FoundPayment key={wantedPayment} code={wantedPayment} {...lists} />
      )}
      <div className="gap-5 lg:mb-5 lg:columns-2 *:mb-5 *:break-inside-avoid">
        <WalletCard of={of} />
        <ListCard
          title={t.tickets.title}
          rows={of.tickets.map(({ id, number, subject, state, openedAt }) => ({
            key: id,
            main: `#${number} ${subject}`,
            to: `/tickets/${id}`,
            sub: timeOf(openedAt),
            badge: t.tickets.states[state],
            tone: state === 'open' ? ('warning' as const) : ('neutral' as const),
          }))}
        />
        <NotesCard of={of} />
        <EntriesCard of={of} />
        <PaymentsCard {...lists} />
        <AccessCard of={of} />
        <ServersCard {...lists} />
        <ListCard
          title={t.customer.domains}
          rows={of.domains.map(({ id, name, active }) => ({
            key: id,
            main: name,
            badge: active ? t.customer.active : t.customer.waiting,
          }))}
        />
        <InvoicesCard of={of} />
        <ListCard title={t.customer.programs} rows={programRows(lists, t)} />
        <ListCard
          title={t.customer.letters}
          rows={of.letters.map(({ id, at, channel, to, subject, state }) => ({
            key: id,
            main: subject ?? channel.toUpperCase(),
            sub: `${to} · ${timeOf(at)}`,
            ...badgeOf(t, state),
          }))}
        />
      </div>
      <ActsCard of={of} />
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}
