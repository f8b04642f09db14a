import { useQueryClient } from '@tanstack/react-query'
import { FlaskConical, Monitor, Moon, Sun } from 'lucide-react'
import { useLanguage, useTexts, type Language } from '../i18n/index.ts'
import { cx } from '../ui/cx.ts'
import { Flag } from '../ui/Flag.tsx'
import { Menu } from '../ui/Menu.tsx'
import { setTheme, useTheme, type Theme } from '../ui/theme.ts'

export const headerButton =
  'grid size-10 place-items-center rounded-md text-ink-2 transition-colors hover:bg-subtle ' +
  'hover:text-ink sm:size-9'

/** Each language in its own words, so that its speakers find it. */
const languageNames: Record<Language, { name: string; country: string }> = {
  en: { name: 'English', country: 'GB' },
  vi: { name: 'Tiếng Việt', country: 'VN' },
  aud: { name: 'Australia', country: 'AU' },
}
const order: Language[] = ['en', 'vi', 'aud']

export function LanguageMenu() {
  const t = useTexts()
  const language = useLanguage()
  const queryClient = useQueryClient()
  return (
    <Menu
      label={`${t.shell.language}: ${languageNames[language].name}`}
      className={headerButton}
      trigger={<Flag country={languageNames[language].country} />}
      items={order.map((code) => ({
        label: languageNames[code].name,
        lead: <Flag country={languageNames[code].country} />,
        checked: code === language,
        onSelect: () =>
          void import('../choose-language.ts').then((file) =>
            file.chooseLanguage(code, queryClient),
          ),
      }))}
    />
  )
}

const themeIcons: Record<Theme, typeof Sun> = { light: Sun, dark: Moon, system: Monitor }
const themes: Theme[] = ['light', 'dark', 'system']

export function ThemeMenu({ className }: { className?: string }) {
  const t = useTexts()
  const theme = useTheme()
  const Icon = themeIcons[theme]
  return (
    <Menu
      label={`${t.shell.theme}: ${t.shell[theme]}`}
      className={cx(headerButton, className)}
      trigger={<Icon aria-hidden className="size-[18px]" strokeWidth={1.75} />}
      items={themes.map((choice) => ({
        label: t.shell[choice],
        icon: themeIcons[choice],
        checked: choice === theme,
        onSelect: () => setTheme(choice),
      }))}
    />
  )
}

/** Shows on every page that no real money moves here, with a link to the sandbox's messages. */
export function SandboxBadge({ inbox }: { inbox: string | null }) {
  const t = useTexts()
  const look =
    'inline-flex h-7 items-center gap-1.5 rounded-full bg-warning-soft px-2.5 text-xs ' +
    'font-medium text-warning'
  const content = (
    <>
      <FlaskConical aria-hidden className="size-3.5" />
      <span className="max-[24.375rem]:sr-only">{t.shell.sandbox}</span>
    </>
  )
  if (inbox === null) return <span className={look}>{content}</span>
  return (
    <a
      href={inbox}
      target="_blank"
      rel="noreferrer"
      title={t.shell.sandboxHint}
      aria-label={t.shell.sandboxHint}
      className={cx(look, 'hover:brightness-95')}
    >
      {content}
    </a>
  )
}
