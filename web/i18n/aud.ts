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
}
