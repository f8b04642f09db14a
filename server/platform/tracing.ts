/** Switches traces on where an operator gave a collector's address, and off again at the end. */
import type { Log } from './log.ts'
import type { OtlpSettings } from './otlp.ts'
import { setTracer } from './spans.ts'

/** @param settings without an endpoint nothing is loaded and nothing measured */
export async function openTracing(
  settings: Omit<OtlpSettings, 'endpoint'> & { readonly endpoint: string | undefined },
  log: Log,
): Promise<{ close(): Promise<void> }> {
  const { endpoint } = settings
  if (endpoint === undefined) return { close: async () => undefined }
  const { createOtlpTracer } = await import('./otlp.ts')
  const tracer = createOtlpTracer({ ...settings, endpoint }, log)
  setTracer(tracer)
  return {
    async close() {
      setTracer(undefined)
      await tracer.close()
    },
  }
}
