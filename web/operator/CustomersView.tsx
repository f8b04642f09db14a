import { useInfiniteQuery } from '@tanstack/react-query'
import { Users } from 'lucide-react'
import { useState } from 'react'
import { formatMoney } from '../../contract/money.ts'
import {
  customerStates,
  type DeskCustomer,
  type DeskCustomerState,
} from '../../contract/operator-customers.ts'
import type { StaffSession } from '../../contract/operator.ts'
import { mayDo } from '../../contract/staff-roles.ts'
import { Badge, type Tone } from '../ui/Badge.tsx'
import { buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { cx } from '../ui/cx.ts'
import { LoadMore } from '../ui/LoadMore.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { cell, headCell, headRow, row } from '../ui/table.ts'
import { dayOf, useDeskLanguage, useDeskTexts } from './language.ts'
import { DeskLink } from './path.tsx'
import { customersQuery } from './queries.ts'
import { SearchBox } from './SearchBox.tsx'
import { StateChoice } from './StateChoice.tsx'

const choices = ['all', ...customerStates] as const
const tones: Readonly<Record<DeskCustomerState, Tone>> = {
  active: 'success',
  blocked: 'danger',
  not_activated: 'neutral',
  closed: 'neutral',
}

/** All customers, newest first, with a search box. */
export function CustomersView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const words = t.customers
  const [shown, setShown] = useState<(typeof choices)[number]>('all')
  return (
    <>
      <PageHead title={t.search.title}>
        {mayDo(session.role, 'money') ? (
          <DeskLink to="/customers/import" className={buttonClass('outline')}>
            {t.imports.open}
          </DeskLink>
        ) : null}
      </PageHead>
      <SearchBox at="/customers">
        <Card
          title={words.all}
          padded={false}
          action={
            <StateChoice
              label={words.show}
              states={choices}
              names={words.states}
              value={shown}
              onChange={setShown}
            />
          }
        >
          <List state={shown === 'all' ? undefined : shown} />
        </Card>
      </SearchBox>
    </>
  )
}

function List({ state }: { state: DeskCustomerState | undefined }) {
  const t = useDeskTexts()
  const list = useInfiniteQuery(customersQuery(state))
  const { data, error } = list
  const rows = data?.pages.flatMap(({ result }) => result)
  return (
    <>
      {error && !data ? (
        <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void list.refetch()} />
      ) : null}
      {(data ?? error) ? null : <SkeletonRows className="p-5" />}
      {rows?.length === 0 && !list.hasNextPage ? (
        <Empty text={t.customers.empty} icon={Users} />
      ) : null}
      {rows && rows.length > 0 ? <Rows of={rows} /> : null}
      <LoadMore
        list={list}
        label={t.more}
        failedText={error?.message ?? ''}
        retryLabel={t.retry}
        className="border-t border-border p-4 first:border-0"
      />
    </>
  )
}

/** On phones a row has only name, balance and state; the rest is on the customer's page. */
function Rows({ of: rows }: { of: readonly DeskCustomer[] }) {
  const words = useDeskTexts().customers
  const language = useDeskLanguage()
  return (
    <table className="w-full text-sm">
      <thead className="max-sm:sr-only">
        <tr className={headRow}>
          <th scope="col" className={headCell}>
            {words.customer}
          </th>
          <th scope="col" className={cx(headCell, 'max-md:hidden')}>
            {words.region}
          </th>
          <th scope="col" className={cx(headCell, 'text-right!')}>
            {words.balance}
          </th>
          <th scope="col" className={cx(headCell, 'text-right! max-md:hidden')}>
            {words.servers}
          </th>
          <th scope="col" className={cx(headCell, 'max-md:hidden')}>
            {words.state}
          </th>
          <th scope="col" className={cx(headCell, 'max-md:hidden')}>
            {words.since}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((one) => (
          <tr key={one.id} className={row}>
            <th scope="row" className={cx(cell, 'w-full max-w-0 text-left font-normal')}>
              <DeskLink
                to={`/customers/${one.id}`}
                className="block truncate font-medium hover:underline"
              >
                {one.name}
              </DeskLink>
              <span className="block truncate text-ink-2">{one.email}</span>
              <span className="mt-1 block md:hidden">
                <State of={one} />
              </span>
            </th>
            <td className={cx(cell, 'max-md:hidden')}>{one.region}</td>
            <td className={cx(cell, 'num text-right whitespace-nowrap max-md:pr-5')}>
              {one.wallet ? formatMoney(one.wallet.balance, one.wallet.currency, language) : '–'}
            </td>
            <td className={cx(cell, 'num text-right max-md:hidden')}>{one.servers}</td>
            <td className={cx(cell, 'whitespace-nowrap max-md:hidden')}>
              <State of={one} />
            </td>
            <td className={cx(cell, 'num whitespace-nowrap max-md:hidden')}>
              {dayOf(one.createdAt)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function State({ of: { state } }: { of: DeskCustomer }) {
  const words = useDeskTexts().customers
  return (
    <Badge tone={tones[state]} dot>
      {words.states[state]}
    </Badge>
  )
}
