import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Download, FileCheck } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { exportTransactions } from '../../contract/wallet.ts'
import { download, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { useTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'
import type { LoadInput } from '../load-input.ts'
import { Button } from '../ui/Button.tsx'
import { Later } from '../ui/Later.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { toast } from '../ui/toast.ts'
import { useMe } from '../queries.ts'
import { filterOf, filterQuery, runwayQuery, transactionListQuery } from './queries.ts'
import { TransactionList } from './TransactionList.tsx'

/** Loaded on demand, because few customers have one. */
const CreditLineCard = lazy(() => loadWanted(() => import('./CreditLineCard.tsx')))
/** Loaded on demand, because few users open it. */
const StatementDialog = lazy(() => loadWanted(() => import('./StatementDialog.tsx')))

const route = getRouteApi('/app/transactions')

// Nothing is waited for once the page is shown, because the search's field must stay.
export const load = async ({ queryClient, search, isShown }: LoadInput) => {
  if (!isShown) await queryClient.prefetchInfiniteQuery(transactionListQuery(filterOf(search)))
}

/**
 * The page's head, which is drawn at once after a press of the menu. The list and its reads come in
 * the second rendering.
 */
export default function TransactionsPage() {
  const t = useTexts('wallet')
  const search = route.useSearch()
  const [isEmpty, setIsEmpty] = useState(false)
  const [statement, setStatement] = useState(false)
  const save = useMutation({
    mutationFn: () => download(exportTransactions, { query: filterQuery(filterOf(search)) }),
    onSuccess: () => toast.success(t.toast.success, t.wallet.exported),
    onError: (failure) => toast.error(t.toast.error, messageOf(failure)),
  })

  return (
    <>
      <title>{`${t.wallet.title} · ${brand}`}</title>
      <PageHead title={t.wallet.title} sub={t.wallet.sub}>
        <Button
          variant="outline"
          busy={save.isPending}
          disabled={isEmpty}
          onClick={() => save.mutate()}
        >
          <Download aria-hidden className="size-4" />
          {t.wallet.export}
        </Button>
        <Button variant="outline" onClick={() => setStatement(true)}>
          <FileCheck aria-hidden className="size-4" />
          {t.wallet.statement}
        </Button>
      </PageHead>
      <Later>{() => <OwnCreditLine />}</Later>
      <Later>{() => <TransactionList onEmpty={setIsEmpty} />}</Later>
      <Suspense fallback={null}>
        {statement ? <StatementDialog onClose={() => setStatement(false)} /> : null}
      </Suspense>
    </>
  )
}

function OwnCreditLine() {
  const { currency } = useMe()
  const { data } = useQuery(runwayQuery)
  return data?.creditLine ? (
    <Suspense fallback={null}>
      <CreditLineCard line={data.creditLine} currency={currency} />
    </Suspense>
  ) : null
}
