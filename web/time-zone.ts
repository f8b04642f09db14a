/**
 * Times in a zone that the customer chose. Separate from format.ts, because few customers choose
 * one and Intl is slow to start.
 */
import { chosenZone } from './format.ts'

/** IANA; null: the browser's own. A zone that this browser does not know is ignored. */
export function followTimeZone(name: string | null): void {
  chosenZone.name = name
  chosenZone.write = undefined
  if (name === null) return
  try {
    // The Swedish format is yyyy-MM-dd HH:mm:ss.
    const format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: name,
      dateStyle: 'short',
      timeStyle: 'medium',
    })
    if (name !== Intl.DateTimeFormat().resolvedOptions().timeZone)
      chosenZone.write = (date) => format.format(date)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
}
