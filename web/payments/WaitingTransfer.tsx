import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listTransfers } from '../../contract/payments.ts'
import { call } from '../api.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Note } from '../ui/State.tsx'

/** The key is under `transactions`, so that it is refetched when money arrives. */
const waitingTransfersQuery = queryOptions({
  queryKey: ['transactions', 'transfers'],
  queryFn: ({ signal }) => call(listTransfers, {}, { signal }),
})

/**
 * The link to the newest unfinished transfer, for a customer whose banking app replaced the page.
 * Its code is shown nowhere else.
 */
export function WaitingTransfer() {
  const t = useTexts('topUp')
  const { money } = useFormat()
  const newest = useQuery(waitingTransfersQuery).data?.[0]
  return newest ? (
    <Note tone="info" className="mb-5 flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
      {t.topUp.waiting(money(newest.amount, newest.currency))}
      <Link
        to="/payment/transfer/$code"
        params={{ code: newest.transactionCode }}
        className="rounded-sm py-1 font-medium text-primary-ink underline underline-offset-4"
      >
        {t.topUp.waitingOpen}
      </Link>
    </Note>
  ) : null
}
