import { useQuery } from '@tanstack/react-query'
import { useRef, useState, type FormEvent } from 'react'
import { effectivePlanPrice } from '../../contract/pricing.ts'
import { containerLimits, type Plan, type Server } from '../../contract/wordpress.ts'
import { changeDisk, changeServer } from '../../contract/wordpress-server.ts'
import { messageOf } from '../api.ts'
import { formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { useConfig } from '../queries.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, Input } from '../ui/Field.tsx'
import { NumberField } from '../ui/NumberField.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { cell, headCell, headRow, row } from '../ui/table.ts'
import { BeforeAfter } from './BeforeAfter.tsx'
import { plansQuery } from './queries.ts'
import { priceWithPlan } from './resize-price.ts'
import { useChange } from './use-change.ts'
import { useCharge } from './use-charge.ts'

/** The plans with their monthly prices, the number of containers, and the server's name. */
export default function PlansTab({ server }: { server: Server }) {
  const t = useTexts('site', 'parts')
  const {
    data: plans,
    isPending,
    isError,
    error,
    refetch,
  } = useQuery({
    ...plansQuery,
    select: (all) => all.filter(({ id, offered }) => offered || id === server.size),
  })
  const running = server.status === 'running'
  const { planned } = server
  return (
    <div className="grid gap-6">
      {running ? null : <Note tone="info">{t.resize.closed}</Note>}
      {typeof planned?.plan === 'string' && server.renewsAt !== null ? (
        <Note tone="info">
          {t.resize.plannedNote(planned.plan, planned.replicate, formatTime(server.renewsAt))}
        </Note>
      ) : null}
      {isPending ? <Skeleton className="h-64 rounded-lg" /> : null}
      {isError && !plans ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {plans ? <PlanTable server={server} plans={plans} running={running} /> : null}
      {running && plans && may('orders') ? (
        <Containers key={server.replicate} server={server} plans={plans} />
      ) : null}
      {running && may('orders') ? <Name key={server.name} server={server} /> : null}
    </div>
  )
}

/** On the narrowest phones the button's text takes two lines. */
const narrow =
  'max-sm:h-auto max-sm:shrink max-sm:px-1.5 max-sm:min-h-6 max-sm:py-1 max-sm:text-center ' +
  'max-sm:whitespace-normal'

function PlanTable({
  server,
  plans,
  running,
}: {
  server: Server
  plans: readonly Plan[]
  running: boolean
}) {
  const t = useTexts('servers', 'site', 'parts')
  const { language, money, ram } = useFormat()
  const number = (value: number) => value.toLocaleString(language === 'vi' ? 'vi' : 'en')
  const [chosen, setChosen] = useState<Plan>()
  const { busy, refusal, field, run } = useChange(server, {
    done: t.resize.sizeDone,
    failed: t.resize.sizeFailed,
  })
  const wrong = refusal ?? field('size')
  const own = useRef<HTMLTableCellElement>(null)
  /**
   * Cancels a planned plan. It needs no confirmation: it costs nothing, and the plan may be chosen
   * again.
   */
  const keep = async () => {
    const body = { id: server.id, name: server.name, size: server.size }
    // The button disappears with the planned plan, so the focus moves to the row.
    if (await run(changeServer, { params: { id: server.id }, body })) own.current?.focus()
  }
  return (
    <div className="-mx-5 sm:-mx-6">
      <table className="w-full text-sm">
        <caption className="sr-only">{t.resize.plans}</caption>
        <thead>
          <tr className={cx(headRow, 'border-t-0')}>
            <th scope="col" className={headCell}>
              {t.resize.plan}
            </th>
            <th scope="col" className={cx(headCell, 'max-sm:hidden')}>
              {t.wp.size}
            </th>
            <th scope="col" className={cx(headCell, 'text-right')}>
              {t.resize.perMonth}
            </th>
            <th scope="col" className={headCell}>
              <span className="sr-only">{t.server.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {plans.map((plan) => (
            <tr key={plan.id} className={row}>
              <th
                scope="row"
                ref={plan.id === server.size ? own : undefined}
                tabIndex={-1}
                className={cx(cell, 'text-left font-medium')}
              >
                <span className="whitespace-nowrap">{plan.name}</span>
                <span className="num block text-xs font-normal text-ink-3 sm:hidden">
                  {t.wp.cpuRam(plan.cpu, ram(plan.ram))}
                </span>
                <span className="num block text-xs font-normal text-ink-3 sm:hidden">
                  {t.resize.mailAnHour(number(plan.mailAnHour))}
                </span>
                {plan.mirrored ? (
                  <span className="block text-xs font-normal text-ink-3 sm:hidden">
                    {t.resize.mirrored}
                  </span>
                ) : null}
              </th>
              <td className={cx(cell, 'num whitespace-nowrap text-ink-2 max-sm:hidden')}>
                {t.wp.cpuRam(plan.cpu, ram(plan.ram))}
                <span className="block text-xs text-ink-3">
                  {t.resize.mailAnHour(number(plan.mailAnHour))}
                </span>
                {plan.mirrored ? (
                  <span className="block text-xs text-ink-3">{t.resize.mirrored}</span>
                ) : null}
              </td>
              <td className={cx(cell, 'num text-right whitespace-nowrap max-sm:pl-0')}>
                {plan.sale_price === 0 ? null : (
                  <s className="block text-xs text-ink-3">{money(plan.price, plan.currency)}</s>
                )}
                {money(effectivePlanPrice(plan), plan.currency)}
              </td>
              <td className={cx(cell, 'text-right max-sm:pl-0')}>
                {plan.id === server.size ? (
                  <span className="inline-flex flex-wrap items-center justify-end gap-2">
                    <Badge tone="success" dot>
                      {t.resize.current}
                    </Badge>
                    {server.planned && server.planned.size !== server.size ? (
                      <Button
                        variant="outline"
                        size="sm"
                        shown={may('orders')}
                        disabled={!running}
                        busy={busy}
                        onClick={() => void keep()}
                        className={narrow}
                      >
                        {t.resize.keep}
                      </Button>
                    ) : null}
                  </span>
                ) : null}
                {plan.id !== server.size && plan.id === server.planned?.size ? (
                  <Badge tone="info" className={narrow}>
                    {t.resize.planned}
                  </Badge>
                ) : null}
                {plan.id !== server.size && plan.id !== server.planned?.size ? (
                  <Button
                    variant="outline"
                    size="sm"
                    shown={may('orders')}
                    disabled={!running}
                    aria-label={t.resize.buyOf(plan.name)}
                    onClick={() => setChosen(plan)}
                  >
                    {t.resize.buy}
                  </Button>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {wrong === undefined ? null : (
        <Note tone="danger" role="alert" className="mx-5 mt-4 sm:mx-6">
          {wrong}
        </Note>
      )}
      {chosen ? (
        <PlanDialog
          server={server}
          plans={plans}
          to={chosen}
          onClose={() => setChosen(undefined)}
        />
      ) : null}
    </div>
  )
}

function PlanDialog({
  server,
  plans,
  to,
  onClose,
}: {
  server: Server
  plans: readonly Plan[]
  to: Plan
  onClose: () => void
}) {
  const t = useTexts('site', 'parts')
  const from = plans.find(({ id }) => id === server.size)
  const { busy, refusal, field, run } = useChange(server, {
    done: t.resize.sizeDone,
    failed: t.resize.sizeFailed,
  })
  const smaller = from !== undefined && effectivePlanPrice(to) < effectivePlanPrice(from)
  const wrong = refusal ?? field('size')
  const price = from && priceWithPlan(server, from, to, server.replicate)
  const charge = useCharge(server, price)
  const confirm = async () => {
    const { id, name } = server
    const body = { id, name, size: to.id, price: effectivePlanPrice(to) }
    if (await run(changeServer, { params: { id: server.id }, body })) onClose()
  }
  return (
    <Dialog
      open
      onClose={onClose}
      busy={busy}
      title={t.resize.planTitle(to.name)}
      description={
        smaller && server.renewsAt !== null
          ? t.resize.planDown(formatTime(server.renewsAt))
          : t.resize.planUp
      }
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button busy={busy} onClick={() => void confirm()}>
            {t.resize.buy}
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        {from && price !== undefined ? (
          <BeforeAfter
            server={server}
            label={t.resize.plan}
            before={from.name}
            after={to.name}
            price={price}
            charge={charge}
          />
        ) : null}
        {wrong === undefined ? null : (
          <Note tone="danger" role="alert">
            {wrong}
          </Note>
        )}
      </div>
    </Dialog>
  )
}

function Containers({ server, plans }: { server: Server; plans: readonly Plan[] }) {
  const t = useTexts('servers', 'site', 'parts')
  const { wordpress } = useConfig()
  const presentCount = server.planned?.replicate ?? server.replicate
  const [count, setCount] = useState(presentCount)
  const { busy, refusal, field, run } = useChange(server, {
    done: t.resize.sizeDone,
    failed: t.resize.sizeFailed,
  })
  const plan = plans.find(({ id }) => id === server.size)
  const max = Math.min(containerLimits.max, wordpress.maxContainers)
  const wrong = refusal ?? field('replicate')
  const price =
    plan && count !== presentCount ? priceWithPlan(server, plan, plan, count) : undefined
  const charge = useCharge(server, price)
  const apply = (event: FormEvent) => {
    event.preventDefault()
    const body = {
      id: server.id,
      name: server.name,
      replicate: count,
      disk: server.disk,
      mariadb_disk_size: server.mariadb_disk_size,
    }
    void run(changeDisk, { params: { id: server.id }, body })
  }
  return (
    <form onSubmit={apply} className="grid gap-3 border-t border-border pt-5">
      <h3 className="text-sm font-semibold">{t.resize.containers}</h3>
      <p className="-mt-2 text-xs text-ink-3">{t.resize.containersHint(max)}</p>
      <div className="flex flex-wrap items-center gap-3">
        <NumberField
          value={count}
          min={containerLimits.min}
          max={max}
          onChange={setCount}
          label={t.resize.containers}
          lessLabel={t.order.less}
          moreLabel={t.order.more}
        />
        <Button type="submit" variant="outline" busy={busy} disabled={count === presentCount}>
          {t.resize.apply}
        </Button>
      </div>
      {price === undefined ? null : (
        <BeforeAfter
          server={server}
          label={t.resize.containers}
          before={String(server.replicate)}
          after={String(count)}
          price={price}
          charge={charge}
        />
      )}
      {wrong === undefined ? null : (
        <Note tone="danger" role="alert">
          {wrong}
        </Note>
      )}
    </form>
  )
}

function Name({ server }: { server: Server }) {
  const t = useTexts('site', 'parts')
  const [name, setName] = useState(server.name)
  const { busy, refusal, field, run } = useChange(server, {
    done: t.resize.renamed,
    failed: t.domains.failed,
  })
  const rest = server.domain.slice(server.name.length)
  const rename = (event: FormEvent) => {
    event.preventDefault()
    void run(changeServer, { params: { id: server.id }, body: { id: server.id, name } })
  }
  return (
    <form onSubmit={rename} noValidate className="grid max-w-xl gap-3 border-t border-border pt-5">
      <Field
        label={t.resize.name}
        error={field('name') ?? refusal}
        hint={name === server.name ? undefined : t.resize.nameHint(`${name}${rest}`)}
      >
        {(control) => (
          <span className="flex gap-2">
            <Input
              {...control}
              value={name}
              onChange={(event) => setName(event.target.value.toLowerCase())}
              maxLength={42}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
            />
            <Button
              type="submit"
              variant="outline"
              className="h-10"
              busy={busy}
              disabled={name === server.name || name === ''}
            >
              {t.resize.rename}
            </Button>
          </span>
        )}
      </Field>
    </form>
  )
}
