import { getRouteApi } from '@tanstack/react-router'
import type { LoadInput } from '../load-input.ts'
import { domainQuery } from './queries.ts'
import { RecordPage } from './RecordPage.tsx'

const route = getRouteApi('/app/dns/domain/$id/add-record')

export const load = ({ queryClient, params }: LoadInput) =>
  queryClient.prefetchQuery(domainQuery(params['id'] ?? ''))

export default function AddRecordPage() {
  return <RecordPage id={route.useParams().id} />
}
