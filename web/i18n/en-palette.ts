/** English: the command palette. */
import { plural } from './plural.ts'

export const enPalette = {
  palette: {
    title: 'Command palette',
    placeholder: 'Find a page, server, domain, invoice or action…',
    go: 'Go to',
    act: 'Action',
    server: 'Server',
    domain: 'Domain',
    invoice: 'Invoice',
    none: (query: string) => `Nothing found for “${query}”.`,
    results: (count: number) => plural(count, 'result', 'results'),
    help: 'Help',
    lockAfter: (minutes: number) =>
      minutes === 0
        ? 'Lock Screen: never'
        : `Lock Screen: after ${plural(minutes, 'minute', 'minutes')} of inactivity`,
    newWordpress: 'Create WordPress server',
  },
}
