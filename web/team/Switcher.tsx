import { useQuery } from '@tanstack/react-query'
import { Users } from 'lucide-react'
import { createPortal } from 'react-dom'
import { messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { headerButton } from '../shell/HeaderMenus.tsx'
import { cx } from '../ui/cx.ts'
import { Menu } from '../ui/Menu.tsx'
import { toast } from '../ui/toast.ts'
import { enter } from './enter.ts'
import { accountsQuery } from './queries.ts'
import { useTeamTexts } from './texts.ts'

/** A menu in the header of those who may work in other accounts: it enters one of them. */
export default function Switcher() {
  const t = useTeamTexts()
  const { toast: toasts } = useTexts()
  const { data } = useQuery(accountsQuery)
  const header = document.querySelector('#root header')
  if (header === null || data === undefined || data.length === 0) return null
  const open = (id: string) =>
    void enter({ id }).catch((error: unknown) => toast.error(toasts.error, messageOf(error)))
  return createPortal(
    <Menu
      label={t.switchTo}
      // A phone's header has no room; there the team's page has these links.
      className={cx(headerButton, 'max-sm:hidden')}
      trigger={<Users aria-hidden className="size-[18px]" strokeWidth={1.75} />}
      items={data.map(({ id, name }) => ({ label: name, icon: Users, onSelect: () => open(id) }))}
    />,
    header,
  )
}
