import { cx } from '../ui/cx.ts'
import { DeskLink } from './path.tsx'

const showInRow = (link: HTMLAnchorElement | null): void =>
  link?.scrollIntoView({ inline: 'center', block: 'nearest' })

/** Tabs with the names of one part's pages. */
export function TabRow<P extends string>({
  label,
  pages,
  names,
  here,
}: {
  label: string
  pages: readonly P[]
  names: Readonly<Record<P, string>>
  here: P
}) {
  return (
    <nav aria-label={label} className="mb-6 flex gap-1 overflow-x-auto">
      {pages.map((page) => (
        <DeskLink
          key={page}
          to={`/${page}`}
          aria-current={page === here ? 'page' : undefined}
          // On phones the row is wider than the screen.
          ref={page === here ? showInRow : undefined}
          className={cx(
            'h-8 shrink-0 rounded-full px-3 py-1.5 text-sm',
            page === here
              ? 'bg-primary-soft font-medium text-primary-ink'
              : 'text-ink-2 hover:bg-subtle',
          )}
        >
          {names[page]}
        </DeskLink>
      ))}
    </nav>
  )
}
