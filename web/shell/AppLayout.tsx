import { useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useRouter } from '@tanstack/react-router'
import {
  ChevronsUpDown,
  CreditCard,
  Lock,
  LogOut,
  PanelLeft,
  Search,
  UserRound,
} from 'lucide-react'
import {
  lazy,
  memo,
  Suspense,
  useCallback,
  useEffect,
  useLayoutEffect,
  useState,
  type ComponentType,
} from 'react'
import { signOut } from '../auth/sign-out.ts'
import { brand } from '../brand.ts'
import { loadTexts, useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { useConfig, useMe } from '../queries.ts'
import { useLocked } from '../session.ts'
import { lockEverywhere } from '../tabs.ts'
import { afterFrame } from '../ui/after-frame.ts'
import { IconButton } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { Logo } from '../ui/Logo.tsx'
import { Menu } from '../ui/Menu.tsx'
import { Skeleton } from '../ui/State.tsx'
import type { AfterStartProps } from './AfterStart.tsx'
import { BottomBar } from './BottomBar.tsx'
import { HeldKeys } from './held-keys.ts'
import { LanguageMenu, SandboxBadge, ThemeMenu } from './HeaderMenus.tsx'
import { NotificationBell } from './NotificationBell.tsx'
import { usePortalEvents } from './notifications.ts'
import { Sidebar } from './Sidebar.tsx'

const paletteWanted = 'palette'
/**
 * Nobody has asked for this part yet, so a failure is silent; it is loaded again when the palette
 * is wanted.
 */
const AfterStart = lazy(() => import('./AfterStart.tsx').catch(() => ({ default: FetchAgain })))
function FetchAgain(props: AfterStartProps) {
  const [Found, setFound] = useState<ComponentType<AfterStartProps>>()
  const wanted = props.held !== undefined
  useEffect(() => {
    if (!wanted) return
    // Loading it may need a reload, after which the palette is to open.
    sessionStorage.setItem(paletteWanted, '1')
    void loadWanted(() => import('./AfterStart.tsx')).then((file) => {
      sessionStorage.removeItem(paletteWanted)
      setFound(() => file.default)
    })
  }, [wanted])
  return Found ? <Found {...props} /> : null
}
/** Longer than any dialog takes to close, ms. */
const leavingMs = 1000

/** Loaded when the screen is locked; until then nothing is shown. */
const LockView = lazy(() =>
  loadWanted(
    async () => (await Promise.all([import('../auth/LockView.tsx'), loadTexts('auth')]))[0],
  ),
)

/** The layout around every signed-in screen. While it is locked, only the lock view is rendered. */
export function AppLayout() {
  const locked = useLocked()
  if (locked) {
    return (
      <Suspense fallback={null}>
        <LockView onUnlocked={() => location.reload()} />
      </Suspense>
    )
  }
  return <Frame />
}

function Frame() {
  const t = useTexts()
  const [menu, setMenu] = useState(readMenuStyle)
  usePortalEvents()

  useEffect(() => keepMenuStyle(menu), [menu])

  const [preload, setPreload] = useState(false)
  // Waits for the next frame, because the key before the K must be answered first.
  const preloadPalette = useCallback(() => void afterFrame().then(() => setPreload(true)), [])
  const [held, setHeld] = useState<HeldKeys>()
  const close = useCallback(() => setHeld(undefined), [])
  const search = useCallback(() => {
    const show = () => setHeld((now) => now ?? new HeldKeys(close))
    const dialog = document.querySelector<HTMLDialogElement>('dialog:modal')
    if (dialog === null) show()
    // A dialog that is being left is hidden and about to close, so the palette waits for that. Any
    // other dialog must be answered first: everything beside it is inert, so the palette would be
    // visible but unusable.
    else if ('leaving' in dialog.dataset)
      dialog.addEventListener('close', show, { once: true, signal: AbortSignal.timeout(leavingMs) })
  }, [close])
  useLayoutEffect(() => held?.hold(), [held])
  useEffect(() => {
    if (sessionStorage.getItem(paletteWanted) === null) return
    sessionStorage.removeItem(paletteWanted)
    search()
  }, [search])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key } = event
      // Ctrl or Command comes before the K, which leaves time to load the palette.
      if (key === 'Control' || key === 'Meta') preloadPalette()
      if ((event.metaKey || event.ctrlKey) && key.toLowerCase() === 'k') {
        event.preventDefault()
        search()
      }
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [preloadPalette, search])
  const collapse = useCallback(
    () => setMenu((now) => (now === 'vertical' ? 'collapsible-vertical' : 'vertical')),
    [],
  )
  const hidden = menu === 'collapsible-vertical'

  return (
    <div
      className={cx(
        'min-h-dvh lg:grid',
        hidden ? 'lg:grid-cols-1' : 'lg:grid-cols-[244px_minmax(0,1fr)]',
      )}
    >
      <a
        href="#main"
        className={
          'sr-only z-50 rounded-md bg-primary px-4 py-2 text-white focus:not-sr-only ' +
          'focus:fixed focus:top-3 focus:left-3'
        }
      >
        {t.common.skip}
      </a>
      {hidden ? null : <Sidebar />}
      <div className="flex min-w-0 flex-col">
        <Header
          hidden={hidden}
          onCollapse={collapse}
          onSearch={search}
          onPreloadSearch={preloadPalette}
        />
        <main
          id="main"
          tabIndex={-1}
          className={
            'mx-auto w-full max-w-[1180px] flex-1 px-4 pt-6 pb-28 sm:px-6 lg:px-8 lg:pt-8 ' +
            'lg:pb-16'
          }
        >
          <Outlet />
        </main>
      </div>
      <BottomBar />
      <Suspense fallback={null}>
        <AfterStart preload={preload} held={held} onClose={close} />
      </Suspense>
    </div>
  )
}

interface HeaderProps {
  /** Whether the sidebar is hidden. */
  hidden: boolean
  onCollapse: () => void
  onSearch: () => void
  /** The pointer or focus is on the search, so the palette may be loaded. */
  onPreloadSearch: () => void
}

const Header = memo(function Header({
  hidden,
  onCollapse,
  onSearch,
  onPreloadSearch,
}: HeaderProps) {
  const t = useTexts()
  const config = useConfig()
  return (
    <header
      className={
        'no-print sticky top-0 z-30 short:static flex min-h-14 flex-wrap items-center gap-1 ' +
        'border-b border-border bg-bg px-3 sm:px-5'
      }
    >
      <IconButton
        label={t.shell.collapse}
        aria-pressed={hidden}
        className="max-lg:hidden"
        onClick={onCollapse}
      >
        <PanelLeft aria-hidden className="size-[18px]" strokeWidth={1.75} />
      </IconButton>
      <Link
        to="/"
        aria-label={brand}
        className={cx(
          'mr-1 flex h-10 items-center rounded-md',
          hidden ? 'lg:order-first' : 'lg:hidden',
        )}
      >
        <Logo />
      </Link>
      <button
        type="button"
        onClick={onSearch}
        onPointerEnter={onPreloadSearch}
        onFocus={onPreloadSearch}
        aria-keyshortcuts="Meta+K Control+K"
        className={
          'ml-1 flex h-9 min-w-0 items-center gap-2.5 rounded-md px-2.5 text-sm text-ink-3 ' +
          'transition-colors hover:text-ink-2 sm:max-w-sm sm:flex-1 sm:bg-surface sm:px-3 ' +
          'sm:shadow-card'
        }
      >
        <Search aria-hidden className="size-[18px] shrink-0 sm:size-4" />
        <span className="flex-1 truncate text-left max-sm:sr-only">{t.shell.search}</span>
        <kbd
          aria-hidden
          data-keys={shortcut}
          className={
            'hidden rounded-[5px] bg-subtle px-1.5 py-0.5 font-sans text-2xs text-ink-3 ' +
            'before:content-[attr(data-keys)] sm:block'
          }
        />
      </button>
      <span className="flex-1" />
      {config.sandbox ? <SandboxBadge inbox={config.sandboxInbox} /> : null}
      <LanguageMenu />
      <ThemeMenu className="max-[22.5rem]:hidden" />
      {may('events') ? <NotificationBell /> : null}
      <UserMenu />
    </header>
  )
})

const shortcut = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'

function UserMenu() {
  const t = useTexts()
  const user = useMe()
  const { payments } = useConfig()
  const router = useRouter()
  const queryClient = useQueryClient()
  const leave = () => void signOut(queryClient, () => router.navigate({ to: '/login' }))
  return (
    <Menu
      label={`${t.shell.account}: ${user.email}`}
      className="ml-1 flex h-10 items-center gap-2 rounded-md px-1.5 text-sm hover:bg-subtle sm:h-9"
      trigger={
        <>
          <span
            aria-hidden
            data-initials={initials(user.name)}
            className={
              'grid size-7 place-items-center rounded-full bg-primary-soft text-xs ' +
              'font-semibold text-primary-ink before:content-[attr(data-initials)]'
            }
          />
          <ChevronsUpDown aria-hidden className="size-3.5 text-ink-3 max-sm:hidden" />
        </>
      }
      items={[
        {
          label: t.shell.account,
          icon: UserRound,
          // A member may change only the part of it that invoices name.
          shown: may('money:write'),
          onSelect: () => void router.navigate({ to: '/account' }),
        },
        ...(payments[user.region_code]?.cards && may('money:read')
          ? [
              {
                label: t.nav.cards,
                icon: CreditCard,
                onSelect: () => void router.navigate({ to: '/link-card' }),
              },
            ]
          : []),
        { label: t.shell.lock, icon: Lock, onSelect: () => lockEverywhere() },
        { label: t.shell.signOut, icon: LogOut, danger: true, onSelect: leave },
      ]}
    />
  )
}

/** Initials of the first and last word: Minh Anh → MA, Nguyễn Thị Lan → NL. */
const initials = (name: string): string => {
  const words = name.trim().split(/\s+/)
  return ((words[0]?.[0] ?? '') + (words.length > 1 ? (words.at(-1)?.[0] ?? '') : '')).toUpperCase()
}

/** `collapsible-vertical` hides the sidebar; each browser stores its own choice. */
type MenuStyle = 'vertical' | 'collapsible-vertical'
const menuKey = 'menu'
function readMenuStyle(): MenuStyle {
  try {
    return localStorage.getItem(menuKey) === 'collapsible-vertical'
      ? 'collapsible-vertical'
      : 'vertical'
  } catch {
    return 'vertical'
  }
}
function keepMenuStyle(style: MenuStyle) {
  try {
    localStorage.setItem(menuKey, style)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

/** A skeleton of the layout, while the customer's profile is loading. */
export function AppPending() {
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[244px_minmax(0,1fr)]" aria-busy="true">
      <div className="hidden border-r border-border px-4.5 py-3.5 lg:block">
        <Logo />
        {[0, 1, 2, 3, 4].map((line) => (
          <Skeleton key={line} className="mt-6 h-3 w-32" />
        ))}
      </div>
      <div>
        <div className="h-14 border-b border-border" />
        <PagePending />
      </div>
    </div>
  )
}

/** A skeleton of a page, for any screen that takes longer than a moment. */
export function PagePending() {
  return (
    <div className="mx-auto w-full max-w-[1180px] px-4 pt-6 sm:px-6 lg:px-8 lg:pt-8">
      <Skeleton className="mb-8 h-7 w-48" />
      <Skeleton className="mb-5 h-52 rounded-xl" />
      <Skeleton className="h-72 rounded-xl" />
    </div>
  )
}
