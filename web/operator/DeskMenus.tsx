import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Bell, BellOff, Languages, LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react'
import { chooseStaffLetters, type StaffSession } from '../../contract/operator.ts'
import { mayDo } from '../../contract/staff-roles.ts'
import { Menu } from '../ui/Menu.tsx'
import { setTheme, useTheme, type Theme } from '../ui/theme.ts'
import { toast } from '../ui/toast.ts'
import { call } from './api.ts'
import { setDeskLanguage, useDeskLanguage, useDeskTexts } from './language.ts'
import { sessionQuery } from './queries.ts'

const button =
  'grid size-10 shrink-0 place-items-center rounded-md text-white/80 hover:bg-white/15 ' +
  'hover:text-white sm:size-9'
const icons: Record<Theme, typeof Sun> = { light: Sun, dark: Moon, system: Monitor }
const themes: Theme[] = ['light', 'dark', 'system']
const names = { en: 'English', vi: 'Tiếng Việt' } as const

/** Language and theme; after sign-in, also the session. */
export function DeskMenus({
  session,
  onSignOut,
  className = button,
}: {
  session?: StaffSession
  onSignOut?: () => void
  className?: string
}) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const theme = useTheme()
  const Icon = icons[theme]
  const client = useQueryClient()
  const { mutate: choose } = useMutation({
    mutationFn: () =>
      call(chooseStaffLetters, { body: { getsLetters: session?.getsLetters !== true } }),
    onSuccess: ({ getsLetters }) => {
      client.setQueryData(sessionQuery.queryKey, (now) => now && { ...now, getsLetters })
      toast.success(t.done, getsLetters ? t.nav.lettersAreOn : t.nav.lettersAreOff)
    },
    onError: ({ message }) => toast.error(t.failed, message),
  })
  return (
    <div className="ml-auto flex items-center gap-1">
      <Menu
        label={`${t.language}: ${names[language]}`}
        className={className}
        trigger={<Languages aria-hidden className="size-[18px]" strokeWidth={1.75} />}
        items={(['en', 'vi'] as const).map((code) => ({
          label: names[code],
          checked: code === language,
          onSelect: () => setDeskLanguage(code),
        }))}
      />
      <Menu
        label={`${t.theme}: ${t[theme]}`}
        className={className}
        trigger={<Icon aria-hidden className="size-[18px]" strokeWidth={1.75} />}
        items={themes.map((choice) => ({
          label: t[choice],
          icon: icons[choice],
          checked: choice === theme,
          onSelect: () => setTheme(choice),
        }))}
      />
      {session && onSignOut ? (
        <Menu
          label={`${t.nav.menu}: ${session.name}`}
          className={
            'flex h-10 items-center gap-2 rounded-md px-2 text-sm text-white hover:bg-white/15 ' +
            'sm:h-9'
          }
          trigger={
            <>
              <UserRound aria-hidden className="size-[18px]" strokeWidth={1.75} />
              <span className="max-w-40 truncate max-sm:sr-only">{session.name}</span>
            </>
          }
          items={[
            {
              label: session.getsLetters ? t.nav.lettersOff : t.nav.lettersOn,
              icon: session.getsLetters ? BellOff : Bell,
              onSelect: () => choose(),
              shown: mayDo(session.role, 'tickets') || mayDo(session.role, 'money'),
            },
            {
              label: t.nav.signOut,
              hint: `${session.email} · ${t.roles[session.role]}`,
              icon: LogOut,
              onSelect: onSignOut,
            },
          ]}
        />
      ) : null}
    </div>
  )
}
