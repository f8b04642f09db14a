import { useId, useState, type PointerEvent, type ReactNode } from 'react'
import { axisSteps } from '../axis-steps.ts'
import { dotsOf, pathOf, type Values } from './usage-series.ts'

export interface ChartLine {
  readonly name: string
  readonly values: Values
  /** A colour of index.css. */
  readonly colour: 'chart' | 'success' | 'warning' | 'danger'
  /** Shown beside the name while no point is selected. */
  readonly sum: string
}

interface ChartProps {
  readonly title: string
  readonly lines: readonly ChartLine[]
  readonly format: (value: number) => string
  /** The label of the span that begins at this index. */
  readonly when: (index: number) => string
  readonly ends: readonly [string, string, string]
  readonly empty: ReactNode
}

/** Lines over time, in plain SVG; pointing at a place shows its values. */
export function UsageChart({ title, lines, format, when, ends, empty }: ChartProps) {
  const id = useId()
  const [hover, setHover] = useState<number>()
  const known = lines.flatMap(({ values }) => values.filter((value) => value !== null))
  const { step, top } = axisSteps(Math.max(0, ...known))
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step)
  const last = (lines[0]?.values.length ?? 1) - 1
  const follow = (event: PointerEvent<HTMLDivElement>) => {
    const area = event.currentTarget.getBoundingClientRect()
    const share = (event.clientX - area.left) / area.width
    setHover(Math.round(Math.min(1, Math.max(0, share)) * last))
  }
  const valueOf = ({ values, sum }: ChartLine): string => {
    if (hover === undefined) return sum
    const value = values[hover]
    return value === null || value === undefined ? '–' : format(value)
  }
  return (
    <figure className="min-w-0" aria-labelledby={id}>
      <figcaption className="mb-3 flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <h4 id={id} className="text-sm font-semibold">
          {title}
        </h4>
        <span aria-hidden className="num text-xs text-ink-3">
          {hover === undefined ? null : when(hover)}
        </span>
      </figcaption>
      <dl className="num mb-3 flex flex-wrap gap-x-6 gap-y-1 text-xs">
        {lines.map((line) => (
          <div key={line.name} className="flex items-center gap-1.5">
            <dt className="flex items-center gap-1.5 text-ink-3">
              <i
                aria-hidden
                className="size-2 rounded-full"
                style={{ background: `var(--${line.colour})` }}
              />
              {line.name}
            </dt>
            <dd className="font-semibold">{valueOf(line)}</dd>
          </div>
        ))}
      </dl>
      {known.length === 0 ? (
        <p className="grid h-[150px] place-items-center rounded-lg bg-subtle text-xs text-ink-3">
          {empty}
        </p>
      ) : (
        <div className="grid grid-cols-[auto_minmax(0,1fr)] grid-rows-[130px_auto] gap-x-3">
          <div aria-hidden className="num relative w-12 text-2xs text-ink-3">
            {ticks.map((tick) => (
              <span
                key={tick}
                className="absolute right-0 -translate-y-1/2 whitespace-nowrap"
                style={{ top: `${100 - (tick / top) * 100}%` }}
              >
                {format(tick)}
              </span>
            ))}
          </div>
          <div
            className="relative touch-pan-y"
            onPointerMove={follow}
            onPointerDown={follow}
            onPointerLeave={() => setHover(undefined)}
          >
            <svg
              viewBox="0 0 100 100"
              preserveAspectRatio="none"
              className="absolute inset-0 size-full overflow-visible"
              role="img"
              aria-label={lines.map(({ name, sum }) => `${name}: ${sum}`).join(', ')}
            >
              {ticks.map((tick) => (
                <line
                  key={tick}
                  x1="0"
                  x2="100"
                  y1={100 - (tick / top) * 100}
                  y2={100 - (tick / top) * 100}
                  stroke="var(--border)"
                  vectorEffect="non-scaling-stroke"
                  {...(tick === 0 ? {} : { strokeDasharray: '3 4' })}
                />
              ))}
              {lines.map((line) => (
                <g
                  key={line.name}
                  fill="none"
                  stroke={`var(--${line.colour})`}
                  strokeLinejoin="round"
                  strokeLinecap="round"
                >
                  <path
                    d={pathOf(line.values, top)}
                    strokeWidth="1.75"
                    vectorEffect="non-scaling-stroke"
                  />
                  {/* Of a first day there may be no more than one value: it is to be seen. */}
                  <path
                    d={dotsOf(line.values, top)}
                    strokeWidth="6"
                    vectorEffect="non-scaling-stroke"
                  />
                </g>
              ))}
              {hover === undefined ? null : (
                <line
                  x1={(hover / Math.max(1, last)) * 100}
                  x2={(hover / Math.max(1, last)) * 100}
                  y1="0"
                  y2="100"
                  stroke="var(--text-3)"
                  vectorEffect="non-scaling-stroke"
                />
              )}
            </svg>
          </div>
          <span />
          <div aria-hidden className="num mt-2 flex justify-between text-2xs text-ink-3">
            {ends.map((end, index) => (
              // These three labels never change their order.
              // oxlint-disable-next-line react/no-array-index-key
              <span key={index}>{end}</span>
            ))}
          </div>
        </div>
      )}
    </figure>
  )
}
