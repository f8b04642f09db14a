import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { MemberAct } from '../../contract/team.ts'
import { CardList } from '../account/CardList.tsx'
import { formatTime } from '../format.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { actsQuery } from './queries.ts'
import { useTeamTexts } from './texts.ts'

/** What members did, as the owner reads it. */
export default function ActsCard() {
  const t = useTeamTexts()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(actsQuery)
  return (
    <Card title={t.acts} sub={t.actsSub} padded={false}>
      <CardList
        items={data?.pages.flatMap(({ result }) => result)}
        error={error}
        onRetry={refetch}
        empty={t.noActs}
        rows={4}
        row={(act) => (
          <li key={act.id} className="px-5 py-3">
            <p className="text-sm wrap-anywhere">
              <span className="font-medium">{act.name}</span>: {act.what}
              <Subject of={act.subject} />
            </p>
            <p className="num mt-0.5 text-xs wrap-anywhere text-ink-3">
              <time dateTime={act.at}>{formatTime(act.at)}</time> · {act.ip}
            </p>
          </li>
        )}
      />
      {hasNextPage ? (
        <div className="grid justify-items-center border-t border-border p-3">
          <Button
            variant="ghost"
            size="sm"
            busy={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            {t.more}
          </Button>
        </div>
      ) : null}
    </Card>
  )
}

const link = 'text-primary-ink hover:underline'

function Subject({ of }: { of: MemberAct['subject'] }) {
  const t = useTeamTexts()
  if (of === null) return null
  if (of.name === null) return <> ({t.gone})</>
  return (
    <>
      {' · '}
      {of.kind === 'server' ? (
        <Link to="/wordpress/$id" params={{ id: of.id }} className={link}>
          {of.name}
        </Link>
      ) : (
        <Link to="/dns/domain/$id" params={{ id: of.id }} className={link}>
          {of.name}
        </Link>
      )}
    </>
  )
}
