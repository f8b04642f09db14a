import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { useDeskTexts } from '../language.ts'
import { TabRow } from '../TabRow.tsx'
import { CapacityView } from './CapacityView.tsx'
import { LettersView } from './LettersView.tsx'
import { NowView } from './NowView.tsx'
import { OutgoingView } from './OutgoingView.tsx'
import { OutgoingWebhookView } from './OutgoingWebhookView.tsx'
import { ServersView } from './ServersView.tsx'
import { UpkeepView } from './UpkeepView.tsx'

const pages = ['work', 'servers', 'letters', 'upkeep', 'capacity', 'outgoing'] as const
type WorkPage = (typeof pages)[number]

/** Whether a section of the address is a page about work. */
export const isWork = (section: string): section is WorkPage =>
  pages.some((page) => page === section)

interface Shown {
  section: WorkPage
  /** The id of the item that is shown from a list. */
  id: string | undefined
  session: StaffSession
}

/** The pages about work, with tabs. */
export function WorkView({ section, id, session }: Shown) {
  const t = useDeskTexts()
  // Reading the outgoing webhooks needs the permission `work`.
  const open = pages.filter((page) => page !== 'outgoing' || mayDo(session.role, 'work'))
  return (
    <>
      <TabRow label={t.work.tabs} pages={open} names={t.work.pages} here={section} />
      <Page section={section} id={id} session={session} />
    </>
  )
}

function Page({ section, id, session }: Shown) {
  if (section === 'outgoing')
    return id === undefined ? (
      <OutgoingView session={session} />
    ) : (
      <OutgoingWebhookView key={id} id={id} session={session} />
    )
  if (section === 'servers') return <ServersView session={session} />
  if (section === 'letters') return <LettersView session={session} />
  if (section === 'upkeep') return <UpkeepView />
  if (section === 'capacity') return <CapacityView session={session} />
  return <NowView session={session} />
}
