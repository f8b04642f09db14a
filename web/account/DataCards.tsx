import { CloseCard } from './CloseCard.tsx'
import { DataCard } from './DataCard.tsx'
import { RequestsCard } from './RequestsCard.tsx'

/**
 * The stored data, requests about it, and closing the account. Loaded last, because it is the least
 * used part of the page.
 */
export default function DataCards() {
  return (
    <>
      <DataCard />
      <RequestsCard />
      <CloseCard />
    </>
  )
}
