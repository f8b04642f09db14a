/** The WordPress order with hosting's texts and data centres. */
import CreatePage, { loadFor } from '../wordpress/CreatePage.tsx'

export const load = loadFor('hosting')
export default function HostingCreatePage() {
  return <CreatePage kind="hosting" />
}
