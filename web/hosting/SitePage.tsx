/** The WordPress server's page with hosting's texts. */
import SitePage, { load } from '../wordpress/SitePage.tsx'

export { load }
export default function HostingSitePage() {
  return <SitePage kind="hosting" />
}
