import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import {
  ArrowLeftRight,
  Ellipsis,
  LayoutDashboard,
  LifeBuoy,
  PanelsTopLeft,
  Plus,
  ReceiptText,
  type LucideIcon,
} from 'lucide-react'
import { memo } from 'react'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { useConfig } from '../queries.ts'
import { cx } from '../ui/cx.ts'
import { Menu } from '../ui/Menu.tsx'
import { isOpen, products } from './products.ts'
import { belongsTo } from './Sidebar.tsx'

const tab = 'flex h-15 w-full flex-col items-center justify-center gap-1 text-2xs font-medium'

interface TabProps {
  to: '/' | '/wordpress' | '/invoice'
  label: string
  icon: LucideIcon
}

/** Each tab selects from the address itself, as an entry of the sidebar does. */
function Tab({ to, label, icon: Icon }: TabProps) {
  const current = useLocation({ select: ({ pathname }) => belongsTo(pathname, to) })
  return (
    <Link
      to={to}
      aria-current={current ? 'page' : undefined}
      className={cx(tab, current ? 'text-primary-ink' : 'text-ink-3')}
    >
      <Icon aria-hidden className="size-5" strokeWidth={1.8} />
      {label}
    </Link>
  )
}

/**
 * The menu on phones, instead of the sidebar. Pages with a total and a button of their own show
 * those here instead.
 */
export const BottomBar = memo(function BottomBar() {
  const t = useTexts()
  const navigate = useNavigate()
  const { products: flags } = useConfig()
  const replaced = useLocation({
    select: ({ pathname }) => /^\/(payment|wordpress\/create|hosting\/create)$/.test(pathname),
  })
  if (replaced) return null

  const more = [
    {
      label: t.nav.transactions,
      icon: ArrowLeftRight,
      shown: may('money:read'),
      onSelect: () => void navigate({ to: '/transactions' }),
    },
    {
      label: t.nav.support,
      icon: LifeBuoy,
      shown: may('tickets:read'),
      onSelect: () => void navigate({ to: '/support' }),
    },
    ...products
      .filter((product) => product.key !== 'wordpress')
      .map((product) => ({
        label: isOpen(product, flags)
          ? t.nav[product.key]
          : `${t.nav[product.key]} · ${t.nav.soon}`,
        icon: product.icon,
        shown: may('servers:read'),
        onSelect: () =>
          void (isOpen(product, flags) && product.to
            ? navigate({ to: product.to })
            : navigate({ to: '/pages/coming-soon', search: { product: product.key } })),
      })),
  ]
  return (
    <nav
      aria-label={t.nav.quick}
      className={
        'no-print fixed inset-x-0 bottom-0 z-30 short:static grid grid-cols-5 border-t ' +
        'border-border bg-surface pb-[env(safe-area-inset-bottom)] lg:hidden'
      }
    >
      <Tab to="/" label={t.nav.overview} icon={LayoutDashboard} />
      <Tab to="/wordpress" label={t.nav.wordpress} icon={PanelsTopLeft} />
      <Link to="/payment" className={tab}>
        <span className="grid size-9 place-items-center rounded-full bg-primary text-white">
          <Plus aria-hidden className="size-[18px]" />
        </span>
        <span className="sr-only">{t.nav.topUp}</span>
      </Link>
      <Tab to="/invoice" label={t.nav.invoices} icon={ReceiptText} />
      <Menu
        side="above"
        label={t.nav.more}
        className={cx(tab, 'text-ink-3')}
        items={more}
        trigger={
          <>
            <Ellipsis aria-hidden className="size-5" />
            {t.nav.more}
          </>
        }
      />
    </nav>
  )
})
