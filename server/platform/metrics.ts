/** Prometheus metrics: requests, the process, and whatever gauges the modules add. */
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

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
  text(): Promise<string>
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer a request, seconds',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  })
  return {
    observe: (route, method, status, seconds) =>
      requests.observe({ route, method, status }, seconds),
    gauge(name, help, read) {
      const gauge: Gauge = new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          gauge.set(await read())
        },
      })
    },
    gauges(name, help, label, read) {
      const gauge: Gauge = new Gauge({
        name,
        help,
        labelNames: [label],
        registers: [registry],
        async collect() {
          const values = await read()
          gauge.reset()
          for (const [key, value] of values) gauge.set({ [label]: key }, value)
        },
      })
    },
    text: () => registry.metrics(),
  }
}
