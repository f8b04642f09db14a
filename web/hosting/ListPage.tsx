/** The WordPress list with hosting's texts, without the MariaDB column. */
import ListPage, { load } from '../wordpress/ListPage.tsx'

export { load }
export default function HostingListPage() {
  return <ListPage kind="hosting" />
}
