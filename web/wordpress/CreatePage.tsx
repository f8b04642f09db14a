import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import {
  lazy,
  Suspense,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
  type FormEvent,
} from 'react'
import { diskPrice } from '../../contract/pricing.ts'
import { containerLimits, placeOrder } from '../../contract/wordpress.ts'
import { ApiError, Attempt, messageOf, serverMessageOr } from '../api.ts'
import { brand } from '../brand.ts'
import { useDraft } from '../drafts.ts'
import { useFormat } from '../format.ts'
import { without, type FieldErrors } from '../form.ts'
import { useTexts, type TextsWith } from '../i18n/index.ts'
import { useConfig, useMe } from '../queries.ts'
import type { LoadInput } from '../load-input.ts'
import { Later } from '../ui/Later.tsx'
import { NumberField } from '../ui/NumberField.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { Stepper } from '../ui/Stepper.tsx'
import { toast } from '../ui/toast.ts'
import type { Confirmed } from './ReviewDialog.tsx'
import { DiskPicker } from './DiskPicker.tsx'
import {
  diskMb,
  emptyOrder,
  isFilled,
  leastDiskMb,
  minGb,
  orderBody,
  orderPrice,
  problems,
  rateOf,
  type OrderForm,
  type Problem,
} from './order-form.ts'
import { Admin, FieldComplaint, Plans, Regions, Section } from './OrderSections.tsx'
import { OrderBar, OrderSummary } from './OrderSummary.tsx'
import { loadWithReview } from './load-review.ts'
import { offeredPlansQuery, plansQuery, regionsQuery, type Kind } from './queries.ts'
import { wording } from './wording.ts'

/** Loaded when the form has been filled in. */
const ReviewDialog = lazy(() => loadWithReview(() => import('./ReviewDialog.tsx')))
const LeaveGuard = lazy(() => loadWithReview(() => import('./LeaveGuard.tsx')))

export const loadFor =
  (kind: Kind) =>
  ({ queryClient }: LoadInput) =>
    Promise.all([
      queryClient.prefetchQuery(regionsQuery(kind)),
      queryClient.prefetchQuery(plansQuery),
    ])
export const load = loadFor('wordpress')

/** The problem as the button's text. */
function problemText(problem: Problem | undefined, t: TextsWith<'servers'>): string | undefined {
  if (problem === undefined) return undefined
  return 'gb' in problem ? t.order.missing[problem.key](problem.gb) : t.order.missing[problem.key]
}

export default function CreatePage({ kind = 'wordpress' }: { kind?: Kind }) {
  const t = useTexts('servers')
  const navigate = useNavigate()
  const user = useMe()
  const { currency } = user
  const { wordpress } = useConfig()
  const queryClient = useQueryClient()
  const { money } = useFormat()
  const regions = useQuery(regionsQuery(kind))
  const plans = useQuery(offeredPlansQuery)
  const [attempt] = useState(() => new Attempt())
  const [form, setForm] = useDraft<OrderForm>('order', emptyOrder, (order) => ({
    ...order,
    password: '',
  }))
  useEffect(() => {
    const { search } = location
    const lists = plans.data && regions.data && { plans: plans.data, regions: regions.data.data }
    if (search === '' || !lists) return
    const follow = ({ linkIn, withLink }: typeof import('./order-link.ts')) =>
      setForm((now) => withLink(now, linkIn(search), lists))
    // If this file does not load, the customer chooses.
    import('./order-link.ts').then(follow, () => undefined)
  }, [setForm, plans.data, regions.data])
  const [errors, setErrors] = useState<FieldErrors>({})
  const [refusal, setRefusal] = useState<string>()
  const [reviewing, setReviewing] = useState(false)
  const [busy, setBusy] = useState(false)
  const sent = useRef(false)
  /** True after a refusal, while the focus is still in the review dialog. */
  const refused = useRef(false)

  // The pressed control is updated in its own frame; the results (price, ticks, problems) follow in
  // the next.
  const settled = useDeferredValue(form)
  const regionOf = ({ regionId }: OrderForm) => regions.data?.data.find(({ id }) => id === regionId)
  const region = regionOf(settled)
  const plan = plans.data?.find((entry) => entry.id === settled.planId)
  const price = useMemo(
    () => orderPrice(settled, plan, wordpress, currency),
    [settled, plan, wordpress, currency],
  )
  const found = problems(settled, region)
  const missing = problemText(found[0], t)
  const lacks = (...keys: Problem['key'][]) => found.some((problem) => keys.includes(problem.key))
  const complaintOf = (...keys: Problem['key'][]) =>
    problemText(
      found.find((problem) => 'gb' in problem && keys.includes(problem.key)),
      t,
    )

  const ssdPerGb = rateOf(wordpress.diskPerGb, currency)
  const mariadbPerGb = rateOf(wordpress.mariadbDiskPerGb, currency)
  const ssdPrice = useMonthlyPrice(ssdPerGb)
  const mariadbPrice = useMonthlyPrice(mariadbPerGb)
  const maxContainers = Math.min(containerLimits.max, wordpress.maxContainers)

  // The setters keep their identity, so that untouched parts of the form are not rendered again.
  const set = useMemo(() => {
    const setter =
      <K extends keyof OrderForm>(key: K, field: string) =>
      (value: OrderForm[K]) => {
        setForm((now) => ({ ...now, [key]: value }))
        setErrors((now) => without(now, field))
        setRefusal(undefined)
      }
    return {
      region: setter('regionId', 'region'),
      plan: setter('planId', 'size'),
      disk: setter('disk', 'disk'),
      mariadb: setter('mariadb', 'mariadb_disk_size'),
      user: setter('user', 'user'),
      password: setter('password', 'password'),
      containers: setter('containers', 'replicate'),
    }
  }, [setForm])

  const review = (event: FormEvent) => {
    event.preventDefault()
    if (problems(form, regionOf(form)).length === 0) setReviewing(true)
  }

  // Only after the dialog is closed: until then the form behind it cannot take the focus.
  const closed = () => {
    setReviewing(false)
    if (!refused.current) return
    refused.current = false
    ;(
      document.querySelector<HTMLElement>('#order [aria-invalid=true]') ??
      document.getElementById('order-refusal')
    )?.focus()
  }

  const confirm = async ({ coupon }: Confirmed) => {
    const body = orderBody(form)
    if (body === undefined || busy) return
    setBusy(true)
    try {
      const { id } = await attempt.run(placeOrder, {
        body: { ...body, coupon, total: price.total },
      })
      for (const subject of ['servers', 'invoices', 'me', 'transactions'])
        void queryClient.invalidateQueries({ queryKey: [subject] })
      sent.current = true
      // Where money is missing, that page shows the shortfall and links to the top-up.
      await navigate({ to: '/wordpress-progress/$id', params: { id }, replace: true })
    } catch (error) {
      setReviewing(false)
      // Prices may have changed.
      void queryClient.invalidateQueries()
      const fields = error instanceof ApiError ? error.fields : {}
      setErrors(fields)
      setRefusal(fields['coupon'] ?? messageOf(error))
      refused.current = true
      toast.error(t.toast.error, serverMessageOr(error, t.order.failed))
    } finally {
      setBusy(false)
    }
  }

  return (
    <>
      <title>{`${wording(kind, t).orderTitle} · ${brand}`}</title>
      <div className="mb-6 flex flex-wrap items-center justify-between gap-4">
        <h1 tabIndex={-1} className="text-2xl font-semibold tracking-[-.02em]">
          {wording(kind, t).orderTitle}
        </h1>
        <Stepper steps={t.wp.steps} at={1} label={t.wp.stepsLabel} />
      </div>
      <Later>
        {() => (
          <div
            className={
              'grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_300px] ' +
              'xl:grid-cols-[minmax(0,1fr)_340px]'
            }
          >
            <form id="order" noValidate className="card divide-y divide-border" onSubmit={review}>
              {refusal ? (
                <div id="order-refusal" tabIndex={-1} className="p-5 outline-none sm:p-6">
                  <Note tone="danger" role="alert">
                    {refusal}
                  </Note>
                </div>
              ) : null}
              <Section
                number={1}
                title={t.order.dataCenter}
                hint={t.order.dataCenterHint}
                done={region !== undefined}
              >
                {regions.data ? (
                  <Regions
                    regions={regions.data.data}
                    value={form.regionId}
                    onChange={set.region}
                  />
                ) : null}
                {regions.isPending ? <Skeleton className="h-28 rounded-lg" /> : null}
                {regions.isError && !regions.data ? (
                  <LoadError
                    text={messageOf(regions.error)}
                    retryLabel={t.common.retry}
                    onRetry={() => void regions.refetch()}
                  />
                ) : null}
                <FieldComplaint text={errors['region']} />
              </Section>
              <Section
                number={2}
                title={t.order.plan}
                hint={t.order.planHint}
                done={plan !== undefined}
              >
                {plans.data ? (
                  <Plans plans={plans.data} value={form.planId} onChange={set.plan} />
                ) : null}
                {plans.isPending ? <Skeleton className="h-56 rounded-lg" /> : null}
                {plans.isError && !plans.data ? (
                  <LoadError
                    text={messageOf(plans.error)}
                    retryLabel={t.common.retry}
                    onRetry={() => void plans.refetch()}
                  />
                ) : null}
                <FieldComplaint text={errors['size']} />
              </Section>
              <Section
                number={3}
                title={t.order.ssd}
                hint={t.order.ssdHint(ssdPrice.amount(10))}
                done={!lacks('disk', 'diskLow', 'diskHigh')}
              >
                <DiskPicker
                  name="disk"
                  label={t.order.ssd}
                  value={form.disk}
                  onChange={set.disk}
                  leastGb={Math.ceil(leastDiskMb(region) / 1024)}
                  priceOf={ssdPrice.perMonth}
                  perGb={t.order.perGb(money(ssdPerGb, currency))}
                  error={
                    errors['disk'] ??
                    (diskMb(settled.disk) > 0 ? complaintOf('diskLow', 'diskHigh') : undefined)
                  }
                />
              </Section>
              <Section
                number={4}
                title={t.order.mariadb}
                hint={
                  mariadbPerGb > 0
                    ? t.order.mariadbPriced(mariadbPrice.amount(10))
                    : t.order.mariadbHint
                }
                done={!lacks('mariadb', 'mariadbLow', 'mariadbHigh')}
              >
                <DiskPicker
                  name="mariadb"
                  label={t.order.mariadb}
                  value={form.mariadb}
                  onChange={set.mariadb}
                  leastGb={minGb}
                  priceOf={mariadbPerGb > 0 ? mariadbPrice.perMonth : undefined}
                  perGb={
                    mariadbPerGb > 0 ? t.order.perGb(money(mariadbPerGb, currency)) : undefined
                  }
                  error={
                    errors['mariadb_disk_size'] ??
                    (diskMb(settled.mariadb) > 0
                      ? complaintOf('mariadbLow', 'mariadbHigh')
                      : undefined)
                  }
                />
              </Section>
              <Section
                number={5}
                title={t.order.admin}
                done={!lacks('user', 'userBad', 'password')}
              >
                <Admin
                  user={form.user}
                  password={form.password}
                  onUser={set.user}
                  onPassword={set.password}
                  userRefused={errors['user']}
                  passwordRefused={errors['password']}
                />
              </Section>
              <Section
                number={6}
                title={t.order.containers}
                hint={
                  maxContainers > 1 ? t.order.containersHint(maxContainers) : t.order.containersOne
                }
                done
              >
                <NumberField
                  value={form.containers}
                  min={containerLimits.min}
                  max={maxContainers}
                  onChange={set.containers}
                  label={t.order.containers}
                  lessLabel={t.order.less}
                  moreLabel={t.order.more}
                />
                <FieldComplaint text={errors['replicate']} />
              </Section>
            </form>
            <OrderSummary
              form={settled}
              region={region}
              plan={plan}
              price={price}
              missing={missing}
            />
            <OrderBar total={price.total} missing={missing} />
          </div>
        )}
      </Later>
      {region && plan ? (
        <Suspense fallback={null}>
          <ReviewDialog
            open={reviewing}
            onClose={closed}
            onConfirm={(order) => void confirm(order)}
            busy={busy}
            form={settled}
            region={region}
            plan={plan}
            total={price.total}
          />
        </Suspense>
      ) : null}
      <Suspense fallback={null}>
        <LeaveGuard filled={isFilled(settled)} sent={sent} />
      </Suspense>
    </>
  )
}

/** The monthly price of a number of GB: the amount, and the same followed by "per month". */
function useMonthlyPrice(perGb: number) {
  const t = useTexts()
  const { currency } = useMe()
  const { money } = useFormat()
  return useMemo(() => {
    const amount = (gb: number) => money(diskPrice(gb * 1024, { perGb }), currency)
    return { amount, perMonth: (gb: number) => `${amount(gb)}${t.common.perMonth}` }
  }, [perGb, money, currency, t])
}
