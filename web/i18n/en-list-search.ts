/** English: the search of lists. Loaded with it, in both languages. */
import { plural } from './plural.ts'

export const enListSearch = {
  servers: {
    search: 'Search by name or domain',
    none: 'No server has this in its name or its domains.',
    found: (count: number, more: boolean) =>
      `${more ? 'More than ' : ''}${plural(count, 'server', 'servers')} found`,
  },
  domains: {
    search: 'Search by domain name',
    none: 'None of your domains has this in its name.',
    found: (count: number, more: boolean) =>
      `${more ? 'More than ' : ''}${plural(count, 'domain', 'domains')} found`,
  },
  showAll: 'Show all',
}
