import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { MemberAct } from '../../contract/team.ts'
import { CardList } from '../account/CardList.tsx'
import { messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Card } from '../ui/Card.tsx'
import { LoadMore } from '../ui/LoadMore.tsx'
import { actsQuery, teamQuery } from './queries.ts'
import { useTeamTexts } from './texts.ts'

/** What members did, for the owner. */
export default function ActsCard() {
  const t = useTeamTexts()
  const { common } = useTexts()
  const list = useInfiniteQuery(actsQuery)
  const { data, error, refetch } = list
  const team = useQuery(teamQuery)
  const acts = data?.pages.flatMap(({ result }) => result)
  // What a former member did stays to be read.
  if (team.data?.members.length === 0 && !acts?.length) return null
  return (
    <Card title={t.acts} sub={t.actsSub} padded={false}>
      <CardList
        items={acts}
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
      <LoadMore
        list={list}
        label={t.more}
        failedText={messageOf(error)}
        retryLabel={common.retry}
        variant="ghost"
        size="sm"
        className="border-t border-border p-3"
      />
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
