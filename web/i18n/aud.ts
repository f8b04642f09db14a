/** Australian English: English, but for what Australians spell or say otherwise. */
import { en, months, weekdays, type Texts } from './en.ts'

export const aud: Texts = {
  ...en,
  dashboard: {
    ...en.dashboard,
    today: (date) => `${weekdays[date.getDay()]} ${date.getDate()} ${months[date.getMonth()]}`,
  },
}
