/**
 * Prometheus metrics: requests, the process, and the modules' counts. A value that needs a query or
 * another process comes from a source. All sources are read at each scrape, each within a time
 * limit; one that fails or is late does not affect the others.
 */
import { setTimeout as rest } from 'node:timers/promises'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { createGate } from './gate.ts'

/** A metric by Prometheus' rules: base units in the name, `_total` at the end of a counter. */
export interface Family {
  readonly type: 'gauge' | 'counter'
  readonly help: string
  /** Absent: the family has one value. */
  readonly labels?: readonly string[]
}
/** One value; `of` has the value of each label of the family. */
export interface Sample {
  readonly of?: Readonly<Record<string, string>>
  readonly value: number
}
/** The values of each family. A family that is left out has none. */
export type Samples<N extends string> = Partial<Record<N, number | readonly Sample[]>>

/** Increments a counter of this process. */
export type Count<L extends string> = (of: Readonly<Record<L, string>>) => void
/** Notes one measurement, in the histogram's unit. */
export type Observe<L extends string> = (of: Readonly<Record<L, string>>, value: number) => void

export interface Metrics {
  observe(route: string, method: string, status: number, seconds: number): void
  /** A value that is read when the metrics are. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void
  /** The same for values that differ by one label. */
  gauges(
    name: string,
    help: string,
    label: string,
    read: () => Promise<ReadonlyMap<string, number>>,
  ): void
  /**
   * Registers families whose values come from one query or call. `costly`: the values are cached
   * for a minute.
   */
  source<N extends string>(
    families: Readonly<Record<N, Family>>,
    read: () => Samples<N> | Promise<Samples<N>>,
    cost?: 'costly',
  ): void
  /** `known`: label values that are shown as 0 until they are counted, so that an alert sees 1. */
  counter<L extends string>(
    name: string,
    help: string,
    known: readonly Readonly<Record<L, string>>[],
  ): Count<L>
  /** `buckets`: upper bounds, in the unit that the name ends with. */
  histogram<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: readonly number[],
  ): Observe<L>
  /** The metrics in Prometheus' text format 0.0.4. */
  text(): Promise<string>
}

export interface MetricTimes {
  /** How long one source may take, from the request for the metrics; ms. */
  readonly longestMs: number
  /** How long the values of a costly source are shown, ms. */
  readonly costlyEveryMs: number
}
/** Prometheus gives up after ten seconds where nothing else is said. */
const usualTimes: MetricTimes = { longestMs: 2_000, costlyEveryMs: 60_000 }
/** The pool has twenty connections, and customers need them. */
const readAtOnce = 6

interface Source {
  readonly names: readonly string[]
  /** Reads and sets the values; throws when it cannot. */
  readonly refresh: () => Promise<void>
  /** The values before are no longer true. */
  readonly forget: () => void
  /** The read in progress: a source that hangs is not read again. */
  pending: Promise<void> | undefined
}

const setter = (metric: Gauge | Counter) => (of: Readonly<Record<string, string>>, value: number) =>
  metric instanceof Gauge ? metric.set(of, value) : metric.inc(of, value)

export function createMetrics(times: Partial<MetricTimes> = {}): Metrics {
  const { longestMs, costlyEveryMs } = { ...usualTimes, ...times }
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer a request, seconds',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  })
  const unread = new Gauge({
    name: 'portal_metric_unread',
    help: '1 for a metric that could not be read this time, or not in time',
    labelNames: ['metric'],
    registers: [registry],
  })
  const sources: Source[] = []
  const gate = createGate({ atOnce: readAtOnce, waiting: Number.MAX_SAFE_INTEGER })

  function source<N extends string>(
    families: Readonly<Record<N, Family>>,
    read: () => Samples<N> | Promise<Samples<N>>,
    cost?: 'costly',
  ): void {
    const keptMs = cost === 'costly' ? costlyEveryMs : 0
    let freshUntil = 0
    const all = (Object.entries<Family>(families) as [N, Family][]).map(([name, family]) => {
      const settings = {
        name,
        help: family.help,
        labelNames: [...(family.labels ?? [])],
        registers: [registry],
      }
      const metric = family.type === 'gauge' ? new Gauge(settings) : new Counter(settings)
      return { name, labelled: family.labels !== undefined, metric, set: setter(metric) }
    })
    const forget = (): void => {
      freshUntil = 0
      for (const { metric, labelled, set } of all) {
        metric.reset()
        // A gauge without labels always has a value, and 0 would look healthy: show NaN.
        if (!labelled && metric instanceof Gauge) set({}, Number.NaN)
      }
    }
    sources.push({
      names: all.map(({ name }) => name),
      forget,
      pending: undefined,
      async refresh() {
        if (performance.now() < freshUntil) return
        const values = await read()
        freshUntil = performance.now() + keptMs
        for (const { name, metric, set } of all) {
          metric.reset()
          const given: number | readonly Sample[] | undefined = values[name]
          if (typeof given === 'number') set({}, given)
          else for (const sample of given ?? []) set(sample.of ?? {}, sample.value)
        }
      },
    })
  }

  /** A source that hangs frees its place in the gate, and is not read again until it ends. */
  const begin = async (one: Source): Promise<void> =>
    await new Promise((resolve, reject) => {
      void gate.run(async () => {
        const look = one.refresh()
        look.then(resolve, reject)
        const ended = look.catch(() => undefined)
        await Promise.race([ended, rest(longestMs, undefined, { ref: false })])
      })
    })

  /** False when the source failed or was late. */
  async function isRead(one: Source, late: Promise<false>): Promise<boolean> {
    one.pending ??= begin(one).finally(() => (one.pending = undefined))
    const look = one.pending.then(
      () => true,
      () => false,
    )
    return await Promise.race([look, late])
  }

  return {
    observe: (route, method, status, seconds) =>
      requests.observe({ route, method, status }, seconds),
    source,
    gauge(name, help, read) {
      source({ [name]: { type: 'gauge', help } }, async () => ({ [name]: await read() }))
    },
    gauges(name, help, label, read) {
      source({ [name]: { type: 'gauge', help, labels: [label] } }, async () => ({
        [name]: Array.from(await read(), ([key, value]) => ({ of: { [label]: key }, value })),
      }))
    },
    counter(name, help, known) {
      const labelNames = Object.keys(known[0] ?? {})
      const counter = new Counter({ name, help, labelNames, registers: [registry] })
      for (const labels of known) counter.inc(labels, 0)
      return (of) => counter.inc(of)
    },
    histogram(name, help, labels, buckets) {
      const histogram = new Histogram({
        name,
        help,
        labelNames: [...labels],
        buckets: [...buckets],
        registers: [registry],
      })
      return (of, value) => histogram.observe(of, value)
    },
    async text() {
      const late = rest(longestMs, false as const, { ref: false })
      await Promise.all(
        sources.map(async (one) => {
          const known = await isRead(one, late)
          if (!known) one.forget()
          for (const name of one.names) unread.set({ metric: name }, known ? 0 : 1)
        }),
      )
      return await registry.metrics()
    },
  }
}
