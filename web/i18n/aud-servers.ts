/** Australian English: ordering, watching and reading servers. */
import { enServers } from './en-servers.ts'

export const audServers: typeof enServers = {
  ...enServers,
  order: {
    ...enServers.order,
    dataCenter: 'Data centre',
    noRegion: 'No data centre chosen',
    regionMinimum: (gb) => `This data centre needs at least ${gb} GB.`,
    containersOne: 'This data centre runs one container per site.',
    missing: { ...enServers.order.missing, region: 'Choose a data centre' },
  },
}
