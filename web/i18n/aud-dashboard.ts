/** Australian English: the overview. */
import { enDashboard, months, weekdays } from './en-dashboard.ts'

export const audDashboard: typeof enDashboard = {
  dashboard: {
    ...enDashboard.dashboard,
    today: (date) => `${weekdays[date.getDay()]} ${date.getDate()} ${months[date.getMonth()]}`,
  },
}
