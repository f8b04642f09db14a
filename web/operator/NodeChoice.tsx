import { useQuery } from '@tanstack/react-query'
import { Select, type FieldControl } from '../ui/Field.tsx'
import { LoadError } from '../ui/State.tsx'
import { useDeskTexts } from './language.ts'
import { capacityQuery } from './queries.ts'

/** A choice of nodes that accept servers, with the room of each; empty: the portal chooses. */
export function NodeChoice({
  value,
  onChange,
  ...control
}: FieldControl & {
  value: string
  onChange: (event: { target: { value: string } }) => void
}) {
  const t = useDeskTexts()
  const words = t.work.capacity
  const { data, error, refetch } = useQuery(capacityQuery)
  const regionsOf = (regions: readonly string[] | null): string =>
    regions?.join(', ') ?? words.everywhere
  return (
    <>
      <Select {...control} value={value} onChange={onChange}>
        <option value="">{t.fields.anyNode}</option>
        {data?.nodes
          .filter(({ state }) => state === 'active')
          .map(({ id, free, regions }) => (
            <option key={id} value={id}>
              {`${id} · ${words.free}: ${free} · ${regionsOf(regions)}`}
            </option>
          ))}
      </Select>
      {error && !data ? (
        <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
      ) : null}
    </>
  )
}
