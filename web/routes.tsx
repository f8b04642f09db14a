/** Every screen of the portal in one table: its address, its file, its query parameters. */
import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  redirect,
  rootRouteId,
} from '@tanstack/react-router'
import type { ComponentType } from 'react'
import type { RecordType } from '../contract/dns-types.ts'
import { AppLayout, AppPending, PagePending } from './shell/AppLayout.tsx'
import { unbuiltRoutes } from './shell/products.ts'
import { Root } from './shell/Root.tsx'
import { answerFirst } from './pages/answer-first.ts'
import { Error500 } from './pages/Error500.tsx'
import { loadTexts, type TextGroup } from './i18n/index.ts'
import type { LoadInput } from './load-input.ts'
import { loadScreen } from './pages/load-screen.ts'
import { configQuery, followZoneOf, meQuery } from './queries.ts'
import { resume } from './known-session.ts'
import { session } from './session.ts'
import { siteTabs, type SiteTab } from './wordpress/site-tabs.ts'

interface Context {
  queryClient: QueryClient
}
interface ScreenFile {
  default: ComponentType
  load?: (input: LoadInput) => Promise<unknown>
}

/**
 * A screen in a chunk of its own. The build parses these lines to tell the server which chunks an
 * address needs.
 */
const screen = (file: () => Promise<ScreenFile>, ...groups: readonly TextGroup[]) => {
  let found: ScreenFile | undefined
  // The texts are loaded together with the chunk; neither is requested again.
  const loaded = async () =>
    (found ??= await loadScreen(
      async () => (await Promise.all([file(), ...groups.map(loadTexts)]))[0],
    ))
  return {
    component: lazyRouteComponent(loaded),
    loaderDeps: ({ search }: { search: Record<string, unknown> }) => search,
    loader: async ({
      context,
      params,
      deps,
      cause,
    }: {
      context: Context
      params: Record<string, string>
      deps: Record<string, unknown>
      cause: 'preload' | 'enter' | 'stay'
    }) => {
      const { load } = await loaded()
      // Behind the lock view nothing may be read.
      if (!session.locked())
        await load?.({
          queryClient: context.queryClient,
          params,
          search: deps,
          isShown: cause === 'stay',
        })
    },
  }
}

type Search = Record<string, unknown>
const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
/** yyyy-MM-dd, an existing day. */
const day = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined
interface TransactionSearch {
  direction?: 'in' | 'out' | undefined
  search?: string | undefined
  from?: string | undefined
  to?: string | undefined
  entry?: string | undefined
}
/** Omits absent values, so that addresses stay short. */
const optional = <K extends string>(key: K, value: string | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: string }

const root = createRootRouteWithContext<Context>()({
  // For every screen, because those outside the layout show times too.
  beforeLoad: () => followZoneOf(session.user()),
  component: Root,
  notFoundComponent: lazyRouteComponent(() => loadScreen(() => import('./pages/Error404.tsx'))),
  errorComponent: Error500,
})

/**
 * Repeated here, because the rules of records are loaded only with the screens that need them. The
 * type keeps both lists equal.
 */
const recordTypes: readonly RecordType[] = ['A', 'AAAA', 'CNAME', 'TXT', 'MX', 'NS']

/**
 * Screens behind the sign-in guard: a visitor without the login flag goes to /login and returns
 * afterwards.
 */
const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: AppLayout,
  pendingComponent: AppPending,
  beforeLoad: async ({ location, matches }) => {
    await resume()
    if (session.signedIn()) return
    // What leads nowhere is not worth a sign-in.
    if (matches.at(-1)?.routeId === '/app/$') throw notFound({ routeId: rootRouteId })
    throw redirect({ to: '/login', search: location.href === '/' ? {} : { next: location.href } })
  },
  loader: async ({ context: { queryClient } }) => {
    if (session.locked()) return
    await Promise.all([
      queryClient.ensureQueryData({ ...meQuery, revalidateIfStale: true }),
      queryClient.ensureQueryData(configQuery),
    ])
  },
})
const inApp = () => app
const bare = () => root

const dashboard = createRoute({
  getParentRoute: inApp,
  path: '/',
  ...screen(() => import('./dashboard/DashboardPage.tsx'), 'dashboard', 'invoices'),
})
const transactions = createRoute({
  getParentRoute: inApp,
  path: '/transactions',
  validateSearch: (search: Search): TransactionSearch => ({
    ...(search['direction'] === 'in' || search['direction'] === 'out'
      ? { direction: search['direction'] }
      : {}),
    ...optional('search', text(search['search'])?.slice(0, 100)),
    ...optional('from', day(search['from'])),
    ...optional('to', day(search['to'])),
    ...optional('entry', text(search['entry'])),
  }),
  ...screen(() => import('./wallet/TransactionsPage.tsx'), 'wallet'),
})
const payment = createRoute({
  getParentRoute: inApp,
  path: '/payment',
  validateSearch: (search: Search): { amount?: string; type?: 'card' } => ({
    ...optional('amount', text(search['amount'])),
    ...(search['type'] === 'card' ? { type: 'card' } : {}),
  }),
  ...screen(() => import('./payments/TopUpPage.tsx'), 'topUp', 'cards'),
})
const linkCard = createRoute({
  getParentRoute: inApp,
  path: '/link-card',
  validateSearch: (search: Search): { amount?: string; setup_intent_client_secret?: string } => ({
    ...optional('amount', text(search['amount'])),
    ...optional('setup_intent_client_secret', text(search['setup_intent_client_secret'])),
  }),
  ...screen(() => import('./payments/LinkCardPage.tsx'), 'cards'),
})
const paymentTransfer = createRoute({
  getParentRoute: inApp,
  path: '/payment/transfer/$code',
  ...screen(() => import('./payments/TransferPage.tsx'), 'payments'),
})
const invoices = createRoute({
  getParentRoute: inApp,
  path: '/invoice',
  validateSearch: (search: Search): { status?: 'open' } =>
    search['status'] === 'open' ? { status: 'open' } : {},
  ...screen(() => import('./invoices/InvoicesPage.tsx'), 'invoices'),
})
const withSearch = (search: Search): { search?: string | undefined } =>
  optional('search', text(search['search'])?.slice(0, 253))
const wordpress = createRoute({
  getParentRoute: inApp,
  path: '/wordpress',
  validateSearch: withSearch,
  ...screen(() => import('./wordpress/ListPage.tsx'), 'servers'),
})
const wordpressCreate = createRoute({
  getParentRoute: inApp,
  path: '/wordpress/create',
  ...screen(() => import('./wordpress/CreatePage.tsx'), 'servers'),
})
const wordpressProgress = createRoute({
  getParentRoute: inApp,
  path: '/wordpress-progress/$id',
  ...screen(() => import('./wordpress/ProgressPage.tsx'), 'servers', 'site'),
})
const siteTab = (search: Search): { tab?: SiteTab } => {
  const tab = siteTabs.find((one) => one === search['tab'])
  return tab === undefined || tab === 'general' ? {} : { tab }
}
const wordpressSite = createRoute({
  getParentRoute: inApp,
  path: '/wordpress/$id',
  validateSearch: siteTab,
  ...screen(() => import('./wordpress/SitePage.tsx'), 'servers', 'site'),
})
const hosting = createRoute({
  getParentRoute: inApp,
  path: '/hosting',
  validateSearch: withSearch,
  ...screen(() => import('./hosting/ListPage.tsx'), 'servers'),
})
const hostingCreate = createRoute({
  getParentRoute: inApp,
  path: '/hosting/create',
  ...screen(() => import('./hosting/CreatePage.tsx'), 'servers'),
})
const hostingSite = createRoute({
  getParentRoute: inApp,
  path: '/hosting/$id',
  validateSearch: siteTab,
  ...screen(() => import('./hosting/SitePage.tsx'), 'servers', 'site'),
})
const dns = createRoute({
  getParentRoute: inApp,
  path: '/dns',
  validateSearch: withSearch,
  ...screen(() => import('./dns/DomainsPage.tsx'), 'dns'),
})
const dnsDomain = createRoute({
  getParentRoute: inApp,
  path: '/dns/domain/$id',
  validateSearch: (
    search: Search,
  ): { record?: RecordType | undefined; search?: string | undefined } => {
    const record = recordTypes.find((one) => one === search['record'])
    return {
      ...(record === undefined ? {} : { record }),
      ...withSearch(search),
    }
  },
  ...screen(() => import('./dns/DomainPage.tsx'), 'dns'),
})
const dnsAddRecord = createRoute({
  getParentRoute: inApp,
  path: '/dns/domain/$id/add-record',
  ...screen(() => import('./dns/AddRecordPage.tsx'), 'dns', 'dnsRecord'),
})
const dnsRecord = createRoute({
  getParentRoute: inApp,
  path: '/dns/domain/$id/record/$recordId',
  ...screen(() => import('./dns/EditRecordPage.tsx'), 'dns', 'dnsRecord'),
})
const account = createRoute({
  getParentRoute: inApp,
  path: '/account',
  ...screen(() => import('./account/AccountPage.tsx'), 'account', 'address'),
})
const security = createRoute({
  getParentRoute: inApp,
  path: '/account/security',
  ...screen(() => import('./security/SecurityPage.tsx'), 'security'),
})
const programs = createRoute({
  getParentRoute: inApp,
  path: '/account/programs',
  ...screen(() => import('./programs/ProgramsPage.tsx'), 'programs'),
})
const team = createRoute({
  getParentRoute: inApp,
  path: '/account/team',
  ...screen(() => import('./team/TeamPage.tsx')),
})
const webhook = createRoute({
  getParentRoute: inApp,
  path: '/account/webhooks/$id',
  ...screen(() => import('./programs/WebhookPage.tsx'), 'programs'),
})
const docs = createRoute({
  getParentRoute: inApp,
  path: '/docs',
  ...screen(() => import('./docs/IndexPage.tsx'), 'docs'),
})
const docsPage = createRoute({
  getParentRoute: inApp,
  path: '/docs/$page',
  ...screen(() => import('./docs/DocsPage.tsx'), 'docs'),
})
const support = createRoute({
  getParentRoute: inApp,
  path: '/support',
  ...screen(() => import('./support/SupportPage.tsx')),
})
const paas = createRoute({
  getParentRoute: inApp,
  path: '/paas',
  ...screen(() => import('./paas/PaasPage.tsx'), 'paas'),
})
const projectCreate = createRoute({
  getParentRoute: inApp,
  path: '/project/create',
  ...screen(() => import('./paas/ProjectPage.tsx'), 'paas'),
})
const webServiceCreate = createRoute({
  getParentRoute: inApp,
  path: '/web-service/create',
  validateSearch: (search: Search) => optional('project', text(search['project'])?.slice(0, 63)),
  ...screen(() => import('./paas/WebServicePage.tsx'), 'paas'),
})
/** Whatever else an address says: the frame stays for who is signed in. */
const missing = createRoute({
  getParentRoute: inApp,
  path: '$',
  component: lazyRouteComponent(() => loadScreen(() => import('./pages/MissingPage.tsx'))),
})

const withNext = (search: Search) => optional('next', text(search['next']))
const login = createRoute({
  getParentRoute: bare,
  path: '/login',
  validateSearch: withNext,
  ...screen(() => import('./auth/LoginPage.tsx'), 'auth'),
})
const register = createRoute({
  getParentRoute: bare,
  path: '/register',
  validateSearch: withNext,
  ...screen(() => import('./auth/RegisterPage.tsx'), 'auth', 'address'),
})
const withEmail = (search: Search) => ({
  ...optional('email', text(search['email'])),
  // Of the recovery: `code` once one was sent.
  ...optional('step', text(search['step'])),
  ...withNext(search),
})
const checkOtp = createRoute({
  getParentRoute: bare,
  path: '/check-otp',
  validateSearch: withEmail,
  ...screen(() => import('./auth/CheckOtpPage.tsx'), 'auth'),
})
const recovery = createRoute({
  getParentRoute: bare,
  path: '/auth/pass-recovery',
  validateSearch: withEmail,
  ...screen(() => import('./auth/RecoveryPage.tsx'), 'auth'),
})
const recoveryBoxed = createRoute({
  getParentRoute: bare,
  path: '/auth/pass-recovery-boxed',
  validateSearch: withEmail,
  ...screen(() => import('./auth/RecoveryPage.tsx'), 'auth'),
})
const notMe = createRoute({
  getParentRoute: bare,
  path: '/auth/not-me',
  validateSearch: (search: Search) => optional('token', text(search['token'])),
  ...screen(() => import('./auth/NotMePage.tsx'), 'auth'),
})
const lockScreen = createRoute({
  getParentRoute: bare,
  path: '/auth/lockscreen',
  ...screen(() => import('./auth/LockPage.tsx'), 'auth'),
})
const lockScreenBoxed = createRoute({
  getParentRoute: bare,
  path: '/auth/lockscreen-boxed',
  ...screen(() => import('./auth/LockPage.tsx'), 'auth'),
})

/** Gateways add their own parameters, whose names we do not know. */
const paymentSuccess = createRoute({
  getParentRoute: bare,
  path: '/api/payments/success',
  ...screen(() => import('./payments/SuccessPage.tsx'), 'topUp'),
})
const cardSuccess = createRoute({
  getParentRoute: bare,
  path: '/payments/stripe/success',
  validateSearch: (search: Search) => optional('transId', text(search['transId'])),
  ...screen(() => import('./payments/SuccessPage.tsx'), 'topUp'),
})
const hostedInvoice = createRoute({
  getParentRoute: bare,
  path: '/invoice/hosted/$token',
  ...screen(() => import('./invoices/HostedPage.tsx'), 'invoices'),
})

const legal = createRoute({
  getParentRoute: bare,
  path: '/legal/$page',
  ...screen(() => import('./pages/LegalPage.tsx'), 'auth'),
})
const error404 = createRoute({
  getParentRoute: bare,
  path: '/pages/error404',
  ...screen(() => import('./pages/Error404.tsx')),
})
const error500 = createRoute({
  getParentRoute: bare,
  path: '/pages/error500',
  validateSearch: (search: Search) => optional('from', text(search['from'])),
  component: Error500,
})
const error503 = createRoute({
  getParentRoute: bare,
  path: '/pages/error503',
  ...screen(() => import('./pages/Error503.tsx')),
})
const maintenance = createRoute({
  getParentRoute: bare,
  path: '/pages/maintenence',
  validateSearch: (search: Search) => optional('from', text(search['from'])),
  ...screen(() => import('./pages/Maintenance.tsx')),
})
const portalStatus = createRoute({
  getParentRoute: bare,
  path: '/status',
  ...screen(() => import('./status/PortalStatusPage.tsx')),
})
const comingSoon = createRoute({
  getParentRoute: bare,
  path: '/pages/coming-soon',
  validateSearch: (search: Search) => optional('product', text(search['product'])),
  ...screen(() => import('./pages/ComingSoon.tsx')),
})

const screens = [
  app.addChildren([
    dashboard,
    transactions,
    payment,
    paymentTransfer,
    linkCard,
    invoices,
    wordpress,
    wordpressCreate,
    wordpressProgress,
    wordpressSite,
    hosting,
    hostingCreate,
    hostingSite,
    dns,
    dnsDomain,
    dnsAddRecord,
    dnsRecord,
    account,
    security,
    programs,
    team,
    webhook,
    docs,
    docsPage,
    support,
    paas,
    projectCreate,
    webServiceCreate,
    missing,
  ]),
  login,
  register,
  checkOtp,
  recovery,
  recoveryBoxed,
  notMe,
  lockScreen,
  lockScreenBoxed,
  paymentSuccess,
  cardSuccess,
  hostedInvoice,
  legal,
  error404,
  error500,
  error503,
  maintenance,
  portalStatus,
  comingSoon,
] as const
const tree = root.addChildren(screens)

/**
 * Addresses of products that are not built yet lead to one page; no link in the portal uses them.
 */
const withUnbuilt = () =>
  root.addChildren([
    ...screens,
    ...unbuiltRoutes.map(({ path, product }) =>
      createRoute({
        getParentRoute: bare,
        path,
        beforeLoad: () => {
          throw redirect({ to: '/pages/coming-soon', search: { product }, replace: true })
        },
      }),
    ),
  ]) as unknown as typeof tree

export function createPortalRouter(queryClient: QueryClient) {
  const router = createRouter({
    routeTree: withUnbuilt(),
    context: { queryClient },
    defaultPendingComponent: PagePending,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    // Nothing for 200 ms, then a skeleton for at least 250 ms, so that it never flashes.
    defaultPendingMs: 200,
    defaultPendingMinMs: 250,
    // Parameters are plain text: a transaction code stays a text, even if it looks like a number.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const out = new URLSearchParams()
      for (const [key, value] of Object.entries(search))
        if (value !== undefined && value !== null) out.set(key, String(value))
      const query = out.toString()
      return query ? `?${query}` : ''
    },
  })
  answerFirst(router)
  return router
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPortalRouter>
  }
}
