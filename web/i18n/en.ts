import { plural } from './plural.ts'

/**
 * English, and the type of every other language: a missing text does not compile. Variable texts
 * are functions, so that their parameters are checked as well. Sentences of the specification are
 * quoted unchanged.
 */
export const en = {
  toast: { error: 'Error !', success: 'Success !', tryAgain: 'Please try again !' },
  common: {
    retry: 'Try again',
    /** Shown instead of an invoice's number until it has one. */
    draft: 'Draft',
    close: 'Close',
    cancel: 'Cancel',
    confirm: 'Confirm',
    copied: 'Copied',
    copyOf: (what: string) => `Copy ${what}`,
    optional: 'optional',
    showPassword: 'Show Password',
    loadMore: 'Load more',
    showAll: 'Show all',
    offline: 'You are offline. What you see may be out of date.',
    notLoaded:
      'You are offline, and this is not loaded yet. Check your Wi-Fi or mobile data. What is ' +
      'missing appears by itself once you are connected.',
    noConnection: 'The portal cannot be reached. Check your connection and try again.',
    home: 'Back to overview',
    skip: 'Skip to content',
    perMonth: '/month',
    view: 'VIEW',
    viewAll: 'View All',
    openIn: 'Opens in a new tab',
    waitSeconds: (seconds: number) => `Please wait ${plural(seconds, 'second', 'seconds')}.`,
  },
  nav: {
    main: 'Main',
    quick: 'Quick',
    overview: 'Overview',
    services: 'Services',
    billing: 'Billing',
    soon: 'Coming soon',
    more: 'More',
    topUp: 'Top up',
    transactions: 'Transactions',
    invoices: 'Invoices',
    cards: 'Linked cards',
    wordpress: 'WordPress',
    hosting: 'Hosting',
    database: 'Database',
    firewall: 'Firewall',
    dns: 'DNS',
    paas: 'PAAS',
    svm: 'SVM',
    support: 'Support',
  },
  shell: {
    collapse: 'Hide the sidebar',
    search: 'Search or go to…',
    language: 'Language',
    theme: 'Theme',
    light: 'Light',
    dark: 'Dark',
    system: 'System',
    account: 'Account',
    lock: 'Lock Screen',
    signOut: 'Sign Out',
    notifications: 'Notifications',
    notificationsUnread: (count: number) => `Notifications, ${count} unread`,
    noNotifications: 'No notification !',
    unread: 'Unread',
    balance: 'Wallet Balance',
    sandbox: 'Sandbox',
    sandboxHint: 'Sandbox: no real money moves. Open the inbox of sent messages.',
  },
  regions: {
    VN: 'Vietnam · VND',
    USD: 'International · USD',
    EURO: 'Europe · EUR',
    AUD: 'Australia · AUD',
  },
  server: {
    cpu: (count: number) => `${count} vCPU`,
    gb: (gb: string) => `${gb} GB`,
    statuses: {
      pending_payment: 'Awaiting payment',
      provisioning: 'Setting up',
      running: 'Running',
      suspended: 'Suspended',
      failed: 'Failed',
      deleting: 'Deleting',
    },
    restarting: 'Restarting…',
    actions: 'Actions',
  },
  entries: {
    note: 'Note',
    amount: 'Amount',
    created: 'Created At',
    empty: 'No transactions yet.',
  },
  pages: {
    notFound: 'Page not found',
    notFoundText: 'The address is wrong, or the page has moved.',
    broken: 'Something went wrong',
    brokenText: 'The page could not be shown. Your data is safe. Please try again.',
    unavailable: 'Service unavailable',
    unavailableText: 'The portal is busy or starting. Please try again in a moment.',
    maintenance: 'Under maintenance',
    maintenanceText:
      "We'll be back soon. This page reloads automatically. Your servers keep running.",
    soon: 'Coming soon',
    soonText: (product: string) => `${product} is coming soon.`,
    soonGeneric: 'This part of the portal',
    home: 'Back to overview',
  },
}

export type Texts = typeof en
