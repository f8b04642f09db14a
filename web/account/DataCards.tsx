import { CloseCard } from './CloseCard.tsx'
import { DataCard } from './DataCard.tsx'
import { RequestsCard } from './RequestsCard.tsx'

/** What is stored, what may be asked about it, and its end: the last that is wanted of the page. */
export default function DataCards() {
  return (
    <>
      <DataCard />
      <RequestsCard />
      <CloseCard />
    </>
  )
}
