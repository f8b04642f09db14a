import { Link, useLocation } from '@tanstack/react-router'
import {
  ArrowLeftRight,
  CreditCard,
  LayoutDashboard,
  LifeBuoy,
  Plus,
  ReceiptText,
  WalletMinimal,
  type LucideIcon,
} from 'lucide-react'
import { memo, type ReactNode } from 'react'
import { brand } from '../brand.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { useConfig, useMe } from '../queries.ts'
import { buttonClass } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { Logo } from '../ui/Logo.tsx'
import { isOpen, products, type Product } from './products.ts'

/**
 * Whether the address belongs to the entry: /wordpress/abc and /wordpress-progress/abc belong to
 * /wordpress, projects and their services to /paas.
 */
export const belongsTo = (pathname: string, to: string): boolean =>
  to === '/'
    ? pathname === '/'
    : pathname === to ||
      pathname.startsWith(`${to}/`) ||
      pathname.startsWith(`${to}-`) ||
      (to === '/paas' && /^\/(project|web-service)\//.test(pathname))

/**
 * Colours fade only under the pointer. What changes with the address changes at once, without extra
 * frames.
 */
const entryClass = (current: boolean) =>
  cx(
    'flex h-8.5 items-center gap-2.5 rounded-md px-2.5 text-sm',
    current
      ? 'bg-surface font-medium text-ink shadow-card'
      : 'text-ink-2 hover:bg-black/4 hover:text-ink hover:transition-colors dark:hover:bg-white/5',
  )

interface EntryProps {
  icon: LucideIcon
  label: string
  to?: NonNullable<Product['to']> | (typeof billing)[number]['to'] | '/' | '/support'
  /**
   * Used instead of `to` for a product that is not built yet: it links to the page that says so.
   */
  soon?: Product['key']
}

/**
 * Each entry selects from the address itself, so that a navigation renders only the entry that was
 * left and the new one.
 */
const Entry = memo(function Entry({ icon: Icon, label, to, soon }: EntryProps) {
  const current = useLocation({
    select: ({ pathname }) => to !== undefined && belongsTo(pathname, to),
  })
  const content = (
    <>
      <Icon
        aria-hidden
        className={cx('size-[17px] shrink-0', current ? 'text-primary-ink' : 'text-ink-3')}
        strokeWidth={1.8}
      />
      <span className="truncate">{label}</span>
    </>
  )
  const className = entryClass(current)
  return (
    <li>
      {to === undefined ? (
        <Link
          to="/pages/coming-soon"
          search={soon === undefined ? {} : { product: soon }}
          className={cx(className, 'text-ink-3')}
        >
          {content}
        </Link>
      ) : (
        <Link to={to} className={className} aria-current={current ? 'page' : undefined}>
          {content}
        </Link>
      )}
    </li>
  )
})

function Group({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <>
      {title === undefined ? null : (
        <p className="mt-5 mb-1.5 px-2.5 text-2xs font-medium text-ink-3">{title}</p>
      )}
      <ul className="grid gap-0.5">{children}</ul>
    </>
  )
}

const billing = [
  { to: '/payment', key: 'topUp', icon: WalletMinimal },
  { to: '/transactions', key: 'transactions', icon: ArrowLeftRight },
  { to: '/invoice', key: 'invoices', icon: ReceiptText },
  { to: '/link-card', key: 'cards', icon: CreditCard },
] as const

export const Sidebar = memo(function Sidebar() {
  const t = useTexts()
  const { products: flags, payments } = useConfig()
  const takesCards = payments[useMe().region_code]?.cards === true
  const balanceShown = useLocation({
    select: ({ pathname }) => pathname === '/' || pathname === '/payment',
  })
  const open = products.filter((product) => isOpen(product, flags))
  const soon = products.filter((product) => !isOpen(product, flags))

  return (
    <aside className="no-print hidden border-r border-border lg:block">
      <div className="sticky top-0 flex h-dvh flex-col px-3 pb-3">
        <Link to="/" className="flex h-14 shrink-0 items-center gap-2.5 rounded-md px-1.5">
          <Logo />
          <span className="text-[15px] font-semibold tracking-[-.02em]">{brand}</span>
        </Link>
        <nav
          aria-label={t.nav.main}
          className="-mx-1 min-h-0 flex-1 overflow-y-auto px-1 pt-2 pb-2"
        >
          <Group>
            <Entry icon={LayoutDashboard} label={t.nav.overview} to="/" />
            <Entry icon={LifeBuoy} label={t.nav.support} to="/support" />
          </Group>
          <Group title={t.nav.services}>
            {open.map(({ key, icon, to }) => (
              <Entry key={key} icon={icon} label={t.nav[key]} to={to ?? '/'} />
            ))}
          </Group>
          <Group title={t.nav.billing}>
            {billing
              .filter(({ key }) => key !== 'cards' || takesCards)
              .map(({ to, key, icon }) => (
                <Entry key={key} icon={icon} label={t.nav[key]} to={to} />
              ))}
          </Group>
          {soon.length > 0 ? (
            <Group title={t.nav.soon}>
              {soon.map(({ key, icon }) => (
                <Entry key={key} icon={icon} label={t.nav[key]} soon={key} />
              ))}
            </Group>
          ) : null}
        </nav>
        {balanceShown ? null : <MiniWallet />}
      </div>
    </aside>
  )
})

/** The wallet's balance, on pages that do not show it themselves. */
function MiniWallet() {
  const t = useTexts()
  const user = useMe()
  const { money } = useFormat()
  return (
    <div className="mt-3 rounded-lg bg-surface p-3 shadow-card">
      <p className="text-xs text-ink-3">{t.shell.balance}</p>
      <p className="num mt-0.5 text-lg font-semibold tracking-[-.01em]">
        {money(user.balance, user.currency)}
      </p>
      <Link to="/payment" className={cx(buttonClass('soft', 'sm'), 'mt-2.5 w-full')}>
        <Plus aria-hidden className="size-4" />
        {t.nav.topUp}
      </Link>
    </div>
  )
}
