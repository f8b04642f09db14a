/** Australian English: English, but for what Australians spell or say otherwise. */
import { en, months, weekdays, type Texts } from './en.ts'

export const aud: Texts = {
  ...en,
  auth: {
    ...en.auth,
    points: [
      'Prepaid: you never spend more than you put in',
      'WordPress servers ready in about a minute',
      'Every charge explained, to the last cent',
    ],
  },
  dashboard: {
    ...en.dashboard,
    today: (date) => `${weekdays[date.getDay()]} ${date.getDate()} ${months[date.getMonth()]}`,
  },
  order: {
    ...en.order,
    dataCenter: 'Data centre',
    noRegion: 'No data centre chosen',
    regionMinimum: (gb) => `This data centre needs at least ${gb} GB.`,
    containersOne: 'This data centre runs one container per site.',
    confirmRegion: 'Data centre',
    missing: { ...en.order.missing, region: 'Choose a data centre' },
  },
}
