import type { StaffSession } from '../../../contract/operator.ts'
import { useDeskTexts } from '../language.ts'
import { TabRow } from '../TabRow.tsx'
import { CapacityView } from './CapacityView.tsx'
import { LettersView } from './LettersView.tsx'
import { NowView } from './NowView.tsx'
import { ServersView } from './ServersView.tsx'
import { UpkeepView } from './UpkeepView.tsx'

const pages = ['work', 'servers', 'letters', 'upkeep', 'capacity'] as const
type WorkPage = (typeof pages)[number]

/** Whether this part of an address is a page about work. */
export const isWork = (section: string): section is WorkPage =>
  pages.some((page) => page === section)

/** The pages about work, with a row of their names. */
export function WorkView({ section, session }: { section: WorkPage; session: StaffSession }) {
  const t = useDeskTexts()
  return (
    <>
      <TabRow label={t.work.tabs} pages={pages} names={t.work.pages} here={section} />
      <Page section={section} session={session} />
    </>
  )
}

function Page({ section, session }: { section: WorkPage; session: StaffSession }) {
  if (section === 'servers') return <ServersView session={session} />
  if (section === 'letters') return <LettersView session={session} />
  if (section === 'upkeep') return <UpkeepView />
  if (section === 'capacity') return <CapacityView session={session} />
  return <NowView session={session} />
}
