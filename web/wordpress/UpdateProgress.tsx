import type { Update } from '../../contract/wordpress-updates.ts'
import { useTexts } from '../i18n/index.ts'
import { cx } from '../ui/cx.ts'

const steps = ['waiting', 'saving', 'updating', 'checking'] as const

/** The steps of a running update. */
export function UpdateProgress({ update }: { update: Update }) {
  const t = useTexts('parts')
  const isBack = update.state === 'rolling_back'
  const at = isBack ? steps.length : steps.findIndex((step) => step === update.state)
  const shown = isBack ? [...steps, 'rolling_back' as const] : steps
  const names = update.packages.map(({ name, to }) => `${name} ${to}`).join(', ')
  return (
    <section aria-live="polite" className="rounded-lg bg-info-soft p-4 text-sm">
      <p className="font-medium">{t.updates.runningTitle(names)}</p>
      <ol className="mt-3 flex flex-wrap gap-x-6 gap-y-2">
        {shown.map((step, index) => (
          <li
            key={step}
            aria-current={index === at ? 'step' : undefined}
            className={cx(
              'flex items-center gap-2',
              index === at ? 'font-medium text-info' : 'text-ink-2',
            )}
          >
            <span
              aria-hidden
              className={cx(
                'size-1.5 rounded-full',
                index <= at ? 'bg-info' : 'bg-[var(--control)]',
                index === at && 'pulse-dot',
              )}
            />
            {t.updates.running[step]}
          </li>
        ))}
      </ol>
      <p className="mt-3 text-xs text-ink-2">{t.updates.runningHint}</p>
    </section>
  )
}
