/** Counters of events in this process since its start. */
import type { Metrics } from '../platform/metrics.ts'
import { updateOutcomes, type WebhookObserver } from '../payments/index.ts'
import { runOutcomes, type RunObserver } from '../wordpress/index.ts'

/** Seconds: from a quick boot to a large site on a busy machine. */
const runBuckets = [2, 5, 10, 20, 30, 60, 120, 300, 600, 1800]
/** Seconds: from an immediate webhook to one that was retried the next day. */
const lagBuckets = [1, 2, 5, 10, 30, 60, 300, 900, 3600, 86_400]

/** `gateways`: names of the payment drivers that are in use. */
export function createMeters(
  metrics: Metrics,
  gateways: readonly string[],
): { readonly onRun: RunObserver; readonly onWebhook: WebhookObserver } {
  const runs = metrics.counter(
    'portal_provisioning_runs_total',
    'Runs of setting a server up by how they ended: running, retried, given_up',
    runOutcomes.map((outcome) => ({ outcome })),
  )
  const took = metrics.histogram(
    'portal_provisioning_duration_seconds',
    'Time of the run that brought a server up',
    [],
    runBuckets,
  )
  const webhooks = metrics.counter(
    'portal_webhooks_total',
    'Webhooks of gateways by what they led to',
    gateways.flatMap((gateway) => updateOutcomes.map((outcome) => ({ gateway, outcome }))),
  )
  const lag = metrics.histogram(
    'portal_webhook_lag_seconds',
    "Time from a movement of money, by the gateway's clock, to its webhook",
    ['gateway'],
    lagBuckets,
  )
  return {
    onRun(outcome, seconds) {
      runs({ outcome })
      if (outcome === 'running') took({}, seconds)
    },
    onWebhook(gateway, outcome, lagSeconds) {
      webhooks({ gateway, outcome })
      if (lagSeconds !== null) lag({ gateway }, lagSeconds)
    },
  }
}
