/** The WordPress server's page in hosting's words. */
import SitePage, { load } from '../wordpress/SitePage.tsx'

export { load }
export default function HostingSitePage() {
  return <SitePage kind="hosting" />
}
