import type { CatalogVersion } from '../../../contract/operator-catalog.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { timeOf, useDeskTexts } from '../language.ts'
import { go } from '../path.tsx'
import { ChangeLines } from './ChangeLines.tsx'
import type { AtDesk } from './queries.ts'

/** Earlier versions: who, when, why, and what changed. */
export function Versions({ catalog, may }: { catalog: AtDesk; may: boolean }) {
  const words = useDeskTexts().catalog
  const oldest = catalog.versions.at(-1)?.version
  return (
    <Card title={words.versions} padded={false}>
      <ul>
        {catalog.versions.map((one) => (
          <li
            key={one.version}
            className="flex flex-wrap gap-x-6 gap-y-2 border-t border-border px-5 py-3 text-sm"
          >
            <About of={one} />
            <span className="min-w-0 flex-1 basis-72">
              <What of={one} isFirst={one.version === oldest && one.changes.length === 0} />
            </span>
            {one.version === catalog.version ? (
              <Badge tone="success" dot className="self-start">
                {words.inUse}
              </Badge>
            ) : null}
            {may && one.readable && one.version !== catalog.version ? (
              <Button
                size="sm"
                variant="outline"
                className="self-start"
                onClick={() => go(`/catalog/${one.version}`)}
              >
                {words.sellAgain}
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
    </Card>
  )
}

function About({ of: one }: { of: CatalogVersion }) {
  const words = useDeskTexts().catalog
  const { publication } = one
  const facts = [
    ...(publication ? [publication.by] : [words.sources[one.source], one.origin]),
    ...(publication?.approvedBy ? [words.approved(publication.approvedBy)] : []),
    ...(publication?.restores ? [words.restores(publication.restores)] : []),
  ]
  return (
    <span className="min-w-0 flex-1 basis-60">
      <span className="num block font-medium">
        {`${words.version(one.version)} · ${timeOf(one.at)}`}
      </span>
      {publication?.reason ? (
        <span className="block [overflow-wrap:anywhere]">{publication.reason}</span>
      ) : null}
      <span className="block text-xs [overflow-wrap:anywhere] text-ink-3">{facts.join(' · ')}</span>
    </span>
  )
}

function What({ of: one, isFirst }: { of: CatalogVersion; isFirst: boolean }) {
  const words = useDeskTexts().catalog
  if (!one.readable) return <span className="text-ink-3">{words.unreadable}</span>
  if (isFirst) return <span className="text-ink-3">{words.first}</span>
  if (one.changes.length === 0) return <span className="text-ink-3">{words.same}</span>
  return (
    <details>
      <summary className="cursor-pointer text-ink-2">{words.lines(one.changes.length)}</summary>
      <ChangeLines changes={one.changes} className="mt-2" />
    </details>
  )
}
