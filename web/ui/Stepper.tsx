import { Check } from 'lucide-react'
import { cx } from './cx.ts'

/** Numbered steps; `at` counts from 1, and steps before it are done. */
export function Stepper({
  steps,
  at,
  label,
}: {
  steps: readonly string[]
  at: number
  label: string
}) {
  return (
    <ol className="flex flex-wrap items-center gap-2 sm:gap-3" aria-label={label}>
      {steps.map((step, index) => {
        const number = index + 1
        const current = number === at
        const done = number < at
        return (
          <li
            key={step}
            aria-current={current ? 'step' : undefined}
            className="flex items-center gap-2 sm:gap-3"
          >
            <span
              className={cx(
                'num grid size-6 place-items-center rounded-full text-xs font-semibold',
                done && 'bg-success text-surface',
                current && 'bg-primary text-white',
                number > at && 'text-ink-3 shadow-[inset_0_0_0_1.5px_var(--control)]',
              )}
            >
              {done ? <Check aria-hidden className="size-3.5" strokeWidth={3} /> : number}
            </span>
            <span
              className={cx(
                'text-sm',
                current ? 'font-semibold' : 'text-ink-3',
                !current && 'max-sm:sr-only',
              )}
            >
              {step}
            </span>
            {number < steps.length ? (
              <span aria-hidden className="h-px w-5 bg-control/50 sm:w-10" />
            ) : null}
          </li>
        )
      })}
    </ol>
  )
}
