/**
 * Times in a zone that the customer chose. Apart from format.ts, since few choose one and Intl is
 * slow to begin.
 */
import { chosenZone } from './format.ts'

/** IANA; null: the browser's own. One that this browser does not know is left out. */
export function followTimeZone(name: string | null): void {
  chosenZone.name = name
  chosenZone.write = undefined
  if (name === null) return
  try {
    // Sweden writes yyyy-MM-dd HH:mm:ss.
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
