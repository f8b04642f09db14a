/** The WordPress order in hosting's words, with hosting's data centres. */
import CreatePage, { loadFor } from '../wordpress/CreatePage.tsx'

export const load = loadFor('hosting')
export default function HostingCreatePage() {
  return <CreatePage kind="hosting" />
}
