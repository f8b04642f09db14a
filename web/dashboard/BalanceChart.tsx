import { useState, type PointerEvent } from 'react'
import { exponents, type Currency } from '../../contract/money.ts'
import { formatDay, formatTime, useFormat } from '../format.ts'
import { useTexts, type Language } from '../i18n/index.ts'
import { axisStepsOf, type Series } from './balance-series.ts'

/** Short labels of the axis: 5 tr, 500k. */
function shortAmount(amount: number, currency: Currency, language: Language): string {
  const value = amount / 10 ** exponents[currency]
  if (value >= 1e6) return `${decimal(value / 1e6, language)}${language === 'vi' ? ' tr' : 'M'}`
  if (value >= 1e3) return `${decimal(value / 1e3, language)}k`
  return decimal(value, language)
}
const decimal = (value: number, language: Language) => {
  const text = String(Math.round(value * 10) / 10)
  return language === 'vi' ? text.replace('.', ',') : text
}

/** The balance as a step area, in plain SVG; the same data stands in a table for screen readers. */
export function BalanceChart({ series, currency }: { series: Series; currency: Currency }) {
  const t = useTexts('dashboard')
  const { money, signed, language } = useFormat()
  const [hover, setHover] = useState<number>()
  const { points, from, to } = series
  const now = points.at(-1)?.balance ?? 0
  const { step, top } = axisStepsOf(Math.max(...points.map((point) => point.balance)), currency)

  const x = (at: number) => ((at - from) / (to - from)) * 100
  const y = (balance: number) => 100 - (balance / top) * 100
  const line =
    points.reduce(
      (path, point, index) =>
        index === 0
          ? `M0 ${y(point.balance)}`
          : `${path}H${x(point.at).toFixed(2)}V${y(point.balance).toFixed(2)}`,
      '',
    ) + 'H100'
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step)
  const under =
    hover === undefined
      ? undefined
      : (points.findLast((point) => x(point.at) <= hover) ?? points[0])
  const hoverAt = hover === undefined ? 0 : from + (hover / 100) * (to - from)

  const follow = (event: PointerEvent<HTMLDivElement>) => {
    const area = event.currentTarget.getBoundingClientRect()
    setHover(Math.min(100, Math.max(0, ((event.clientX - area.left) / area.width) * 100)))
  }

  return (
    <figure className="flex h-full flex-col">
      <dl className="num mb-4 flex flex-wrap gap-x-8 gap-y-2">
        <div>
          <dt className="text-xs text-ink-3">{t.dashboard.chartIn}</dt>
          <dd className="text-lg font-semibold text-success">
            {signed(series.received, currency)}
          </dd>
        </div>
        <div>
          <dt className="text-xs text-ink-3">{t.dashboard.chartOut}</dt>
          <dd className="text-lg font-semibold">{money(-series.spent, currency)}</dd>
        </div>
        <div className="ml-auto text-right max-sm:hidden" aria-hidden>
          <dt className="text-xs text-ink-3">
            {under ? formatDay(hoverAt * 1000) : t.dashboard.chartNow}
          </dt>
          <dd className="text-lg font-semibold text-primary-ink">
            {money(under ? under.balance : now, currency)}
          </dd>
        </div>
      </dl>
      <div
        className={
          'grid min-h-[150px] flex-1 grid-cols-[auto_minmax(0,1fr)] grid-rows-[1fr_auto] ' +
          'gap-x-3'
        }
      >
        <div aria-hidden className="num relative w-9 text-2xs text-ink-3">
          {ticks.map((tick) => (
            <span
              key={tick}
              className="absolute right-0 -translate-y-1/2 whitespace-nowrap"
              style={{ top: `${y(tick)}%` }}
            >
              {shortAmount(tick, currency, language)}
            </span>
          ))}
        </div>
        <div className="relative" onPointerMove={follow} onPointerLeave={() => setHover(undefined)}>
          <svg
            viewBox="0 0 100 100"
            preserveAspectRatio="none"
            className="absolute inset-0 size-full overflow-visible"
            role="img"
            aria-label={t.dashboard.chartText(
              money(now, currency),
              money(series.received, currency),
              money(series.spent, currency),
            )}
          >
            <defs>
              <linearGradient id="balance-fill" x1="0" y1="0" x2="0" y2="1">
                <stop offset="0" stopColor="var(--chart)" stopOpacity=".2" />
                <stop offset="1" stopColor="var(--chart)" stopOpacity="0" />
              </linearGradient>
            </defs>
            {ticks.map((tick) => (
              <line
                key={tick}
                x1="0"
                x2="100"
                y1={y(tick)}
                y2={y(tick)}
                stroke="var(--border)"
                vectorEffect="non-scaling-stroke"
                {...(tick === 0 ? {} : { strokeDasharray: '3 4' })}
              />
            ))}
            <path d={`${line}V100H0Z`} fill="url(#balance-fill)" />
            <path
              d={line}
              fill="none"
              stroke="var(--chart)"
              strokeWidth="2"
              strokeLinejoin="round"
              vectorEffect="non-scaling-stroke"
            />
            {hover === undefined ? null : (
              <line
                x1={hover}
                x2={hover}
                y1="0"
                y2="100"
                stroke="var(--text-3)"
                vectorEffect="non-scaling-stroke"
              />
            )}
          </svg>
          {points
            .filter((point) => point.received)
            .map((point) => (
              <i
                key={`${point.at}-${point.balance}`}
                aria-hidden
                className={
                  'absolute size-2.5 -translate-1/2 rounded-full bg-surface ' +
                  'shadow-[inset_0_0_0_2px_var(--chart)]'
                }
                style={{ left: `${x(point.at)}%`, top: `${y(point.balance)}%` }}
              />
            ))}
        </div>
        <span />
        <div aria-hidden className="num mt-2 flex justify-between text-2xs text-ink-3">
          {[from, (from + to) / 2, to].map((at) => (
            <span key={at}>{formatDay(at * 1000).slice(5)}</span>
          ))}
        </div>
      </div>
      <figcaption className="sr-only">
        <table>
          <caption>{t.dashboard.chartTable}</caption>
          <tbody>
            {points.slice(1).map((point) => (
              <tr key={`${point.at}-${point.balance}`}>
                <th scope="row">{formatTime(point.at * 1000)}</th>
                <td>{money(point.balance, currency)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </figcaption>
    </figure>
  )
}
