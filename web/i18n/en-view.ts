import { plural } from './plural.ts'

/** The bar over a customer's portal while the staff views it. No customer loads it. */
export const enView = {
  label: 'You only look',
  sees: (name: string) => `You see this as ${name} does.`,
  nothing: 'Nothing can be changed.',
  left: (minutes: number) => `${plural(minutes, 'minute', 'minutes')} left`,
  leave: 'Leave',
}
export type ViewTexts = typeof enView
