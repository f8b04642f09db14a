import type { SellingChange } from '../../../contract/operator-catalog.ts'
import { cx } from '../../ui/cx.ts'
import { useDeskLanguage, useDeskTexts } from '../language.ts'
import { lineOf } from './lines.ts'

/** Changes in what is sold: one line per field, with the values before and after. */
export function ChangeLines({
  changes,
  className,
}: {
  changes: readonly SellingChange[]
  className?: string
}) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  return (
    <ul className={cx('num grid gap-1.5 text-sm', className)}>
      {changes.map((change) => {
        const { what, field, before, after } = lineOf(change, { t, language })
        return (
          <li
            key={JSON.stringify(change)}
            className="flex flex-wrap gap-x-3 [overflow-wrap:anywhere]"
          >
            <span className="font-medium">{what}</span>
            <span className="text-ink-2">{field}</span>
            {after === '' ? null : (
              <span>
                <span className="text-ink-3">{before}</span>
                {' → '}
                <span className="font-medium">{after}</span>
              </span>
            )}
          </li>
        )
      })}
    </ul>
  )
}
