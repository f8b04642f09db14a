import { useQuery } from '@tanstack/react-query'
import { messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Checkbox } from '../ui/Checkbox.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import type { choosableDomainsQuery, choosableServersQuery } from './choosable.ts'

interface ChosenProps {
  label: string
  empty: string
  query: typeof choosableServersQuery | typeof choosableDomainsQuery
  chosen: string[] | null
  error: string | undefined
  onChange: (ids: string[] | null) => void
}

/** A choice of all servers or domains, or of some. */
export function Chosen({ label, empty, query, chosen, error, onChange }: ChosenProps) {
  const t = useTexts()
  const { data, error: fault, refetch } = useQuery(query as typeof choosableServersQuery)
  return (
    <div className="grid gap-2">
      <Checkbox
        label={label}
        checked={chosen !== null}
        onChange={(checked) => onChange(checked ? [] : null)}
      />
      {chosen === null ? null : (
        <div className="ml-6.5 grid max-h-56 gap-2 overflow-y-auto">
          {data === undefined && fault === null ? <SkeletonRows rows={2} /> : null}
          {data === undefined && fault ? (
            <LoadError
              text={messageOf(fault)}
              retryLabel={t.common.retry}
              onRetry={() => void refetch()}
              className="py-3"
            />
          ) : null}
          {data?.length === 0 ? <p className="text-xs text-ink-3">{empty}</p> : null}
          {data?.map(({ id, name }) => (
            <Checkbox
              key={id}
              label={name}
              checked={chosen.includes(id)}
              onChange={(checked) =>
                onChange(checked ? [...chosen, id] : chosen.filter((one) => one !== id))
              }
            />
          ))}
        </div>
      )}
      {error ? (
        <p role="alert" className="text-xs font-medium text-danger">
          {error}
        </p>
      ) : null}
    </div>
  )
}
