import { useQuery } from '@tanstack/react-query'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { PageHead } from '../../ui/PageHead.tsx'
import { LoadError, SkeletonRows } from '../../ui/State.tsx'
import { useDeskTexts } from '../language.ts'
import { CatalogView } from './CatalogView.tsx'
import { EditView } from './EditView.tsx'
import { PreviewView, ProposedView } from './PreviewView.tsx'
import { catalogQuery } from './queries.ts'

/**
 * The pages about what is sold. `id` is `edit`, the number of a version to restore, or a proposal's
 * id.
 */
export function CatalogPages({ id, session }: { id: string | undefined; session: StaffSession }) {
  const t = useDeskTexts()
  const { data, error, refetch } = useQuery(catalogQuery)
  const may = mayDo(session.role, 'sell')
  if (id !== undefined && id !== 'edit' && !/^\d+$/.test(id)) return <ProposedView id={id} />
  if (error && !data)
    return <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
  if (!data)
    return (
      <>
        <PageHead title={t.catalog.title} sub={t.catalog.sub} />
        <SkeletonRows />
      </>
    )
  if (id === 'edit' && may) return <EditView catalog={data} />
  if (id !== undefined && may)
    return (
      <PreviewView
        title={t.catalog.preview.undo(Number(id))}
        wanted={{ base: data.version, restores: Number(id) }}
      />
    )
  return <CatalogView catalog={data} may={may} />
}
