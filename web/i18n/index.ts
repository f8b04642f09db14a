/**
 * The active language. Only the texts of this language that every screen needs are downloaded
 * first. A screen's route names the further groups that it needs (`screen(file, 'servers')`). A
 * change of language loads all its files first and then swaps.
 */
import { useSyncExternalStore } from 'react'
import type { enAccount } from './en-account.ts'
import type { enAddress } from './en-address.ts'
import type { enAuth } from './en-auth.ts'
import type { enCards } from './en-cards.ts'
import type { enDashboard } from './en-dashboard.ts'
import type { enDns } from './en-dns.ts'
import type { enDnsParts } from './en-dns-parts.ts'
import type { enDnsRecord } from './en-dns-record.ts'
import type { enDocs } from './en-docs.ts'
import type { enEvents } from './en-events.ts'
import type { enInvoices } from './en-invoices.ts'
import type { enMoveIn } from './en-move-in.ts'
import type { enPaas } from './en-paas.ts'
import type { enPalette } from './en-palette.ts'
import type { enParts } from './en-parts.ts'
import type { enPayments } from './en-payments.ts'
import type { enPrograms } from './en-programs.ts'
import type { enReview } from './en-review.ts'
import type { enSecurity } from './en-security.ts'
import type { enServers } from './en-servers.ts'
import type { enSite } from './en-site.ts'
import type { enTools } from './en-tools.ts'
import type { enTopUp } from './en-top-up.ts'
import type { enWallet } from './en-wallet.ts'
import type { Texts } from './en.ts'

export type { Texts }
/** The texts of each group. */
interface GroupTexts {
  account: typeof enAccount
  address: typeof enAddress
  auth: typeof enAuth
  dashboard: typeof enDashboard
  palette: typeof enPalette
  parts: typeof enParts
  cards: { readonly cards: typeof enCards }
  dns: typeof enDns
  dnsParts: typeof enDnsParts
  dnsRecord: typeof enDnsRecord
  docs: typeof enDocs
  events: typeof enEvents
  invoices: typeof enInvoices
  moveIn: typeof enMoveIn
  paas: typeof enPaas
  payments: typeof enPayments
  programs: typeof enPrograms
  review: typeof enReview
  security: typeof enSecurity
  servers: typeof enServers
  site: typeof enSite
  tools: typeof enTools
  topUp: typeof enTopUp
  wallet: typeof enWallet
}
export type TextGroup = keyof GroupTexts
export const languages = ['en', 'vi', 'aud'] as const
export type Language = (typeof languages)[number]

const loaders: Record<Language, () => Promise<Texts>> = {
  en: () => import('./en.ts').then((file) => file.en),
  vi: () => import('./vi.ts').then((file) => file.vi),
  aud: () => import('./en.ts').then((file) => file.en),
}

type Loaders = { readonly [G in TextGroup]: Record<Language, () => Promise<GroupTexts[G]>> }
const account = () => import('./en-account.ts').then((file) => file.enAccount)
const address = () => import('./en-address.ts').then((file) => file.enAddress)
const cards = () => import('./en-cards.ts').then((file) => ({ cards: file.enCards }))
const dns = () => import('./en-dns.ts').then((file) => file.enDns)
const dnsParts = () => import('./en-dns-parts.ts').then((file) => file.enDnsParts)
const dnsRecord = () => import('./en-dns-record.ts').then((file) => file.enDnsRecord)
const docs = () => import('./en-docs.ts').then((file) => file.enDocs)
const events = () => import('./en-events.ts').then((file) => file.enEvents)
const invoices = () => import('./en-invoices.ts').then((file) => file.enInvoices)
const moveIn = () => import('./en-move-in.ts').then((file) => file.enMoveIn)
const paas = () => import('./en-paas.ts').then((file) => file.enPaas)
const palette = () => import('./en-palette.ts').then((file) => file.enPalette)
const parts = () => import('./en-parts.ts').then((file) => file.enParts)
const payments = () => import('./en-payments.ts').then((file) => file.enPayments)
const programs = () => import('./en-programs.ts').then((file) => file.enPrograms)
const security = () => import('./en-security.ts').then((file) => file.enSecurity)
const site = () => import('./en-site.ts').then((file) => file.enSite)
const tools = () => import('./en-tools.ts').then((file) => file.enTools)
const topUp = () => import('./en-top-up.ts').then((file) => file.enTopUp)
const wallet = () => import('./en-wallet.ts').then((file) => file.enWallet)
const groupLoaders: Loaders = {
  account: {
    en: account,
    vi: () => import('./vi-account.ts').then((file) => file.viAccount),
    aud: account,
  },
  address: {
    en: address,
    vi: () => import('./vi-address.ts').then((file) => file.viAddress),
    aud: address,
  },
  auth: {
    en: () => import('./en-auth.ts').then((file) => file.enAuth),
    vi: () => import('./vi-auth.ts').then((file) => file.viAuth),
    aud: () => import('./aud-auth.ts').then((file) => file.audAuth),
  },
  dashboard: {
    en: () => import('./en-dashboard.ts').then((file) => file.enDashboard),
    vi: () => import('./vi-dashboard.ts').then((file) => file.viDashboard),
    aud: () => import('./aud-dashboard.ts').then((file) => file.audDashboard),
  },
  moveIn: {
    en: moveIn,
    vi: () => import('./vi-move-in.ts').then((file) => file.viMoveIn),
    aud: moveIn,
  },
  parts: { en: parts, vi: () => import('./vi-parts.ts').then((file) => file.viParts), aud: parts },
  cards: {
    en: cards,
    vi: () => import('./vi-cards.ts').then((file) => ({ cards: file.viCards })),
    aud: cards,
  },
  dns: { en: dns, vi: () => import('./vi-dns.ts').then((file) => file.viDns), aud: dns },
  dnsParts: {
    en: dnsParts,
    vi: () => import('./vi-dns-parts.ts').then((file) => file.viDnsParts),
    aud: dnsParts,
  },
  dnsRecord: {
    en: dnsRecord,
    vi: () => import('./vi-dns-record.ts').then((file) => file.viDnsRecord),
    aud: dnsRecord,
  },
  docs: { en: docs, vi: () => import('./vi-docs.ts').then((file) => file.viDocs), aud: docs },
  events: {
    en: events,
    vi: () => import('./vi-events.ts').then((file) => file.viEvents),
    aud: events,
  },
  invoices: {
    en: invoices,
    vi: () => import('./vi-invoices.ts').then((file) => file.viInvoices),
    aud: invoices,
  },
  paas: { en: paas, vi: () => import('./vi-paas.ts').then((file) => file.viPaas), aud: paas },
  palette: {
    en: palette,
    vi: () => import('./vi-palette.ts').then((file) => file.viPalette),
    aud: palette,
  },
  payments: {
    en: payments,
    vi: () => import('./vi-payments.ts').then((file) => file.viPayments),
    aud: payments,
  },
  programs: {
    en: programs,
    vi: () => import('./vi-programs.ts').then((file) => file.viPrograms),
    aud: programs,
  },
  review: {
    en: () => import('./en-review.ts').then((file) => file.enReview),
    vi: () => import('./vi-review.ts').then((file) => file.viReview),
    aud: () => import('./aud-review.ts').then((file) => file.audReview),
  },
  security: {
    en: security,
    vi: () => import('./vi-security.ts').then((file) => file.viSecurity),
    aud: security,
  },
  servers: {
    en: () => import('./en-servers.ts').then((file) => file.enServers),
    vi: () => import('./vi-servers.ts').then((file) => file.viServers),
    aud: () => import('./aud-servers.ts').then((file) => file.audServers),
  },
  site: { en: site, vi: () => import('./vi-site.ts').then((file) => file.viSite), aud: site },
  tools: { en: tools, vi: () => import('./vi-tools.ts').then((file) => file.viTools), aud: tools },
  topUp: { en: topUp, vi: () => import('./vi-top-up.ts').then((file) => file.viTopUp), aud: topUp },
  wallet: {
    en: wallet,
    vi: () => import('./vi-wallet.ts').then((file) => file.viWallet),
    aud: wallet,
  },
}
/** Groups that some screen has requested. Each is loaded when its promise resolves. */
const wanted = new Map<TextGroup, Promise<void>>()
const groupOf = (group: TextGroup, language: Language): Promise<object> =>
  groupLoaders[group][language]()

interface Active {
  language: Language
  texts: Texts
}
let active: Active | undefined
const listeners = new Set<() => void>()

export const isLanguage = (value: unknown): value is Language =>
  languages.some((language) => language === value)

/** The language chosen in an earlier visit, or else the browser's. */
export function preferredLanguage(): Language {
  let stored: string | null = null
  try {
    stored = localStorage.getItem('language')
  } catch {
    // Storage may be blocked; then the browser's languages decide.
  }
  if (isLanguage(stored)) return stored
  const first = navigator.language.toLowerCase()
  if (first.startsWith('vi')) return 'vi'
  return first === 'en-au' ? 'aud' : 'en'
}

/** Counts the choices: of two that are loading, only the later one is applied. */
let choices = 0

export async function setLanguage(language: Language, keep = true): Promise<void> {
  const choice = ++choices
  const core = loaders[language]()
  const groups = new Map<TextGroup, Promise<object>>()
  const missing = () => [...wanted.keys()].filter((group) => !groups.has(group))
  let parts: object[]
  do {
    for (const group of missing()) groups.set(group, groupOf(group, language))
    parts = await Promise.all([core, ...groups.values()])
    // A screen may have requested another group during this load.
  } while (missing().length > 0)
  if (choice !== choices) return
  active = { language, texts: Object.assign({}, ...parts) as Texts }
  document.documentElement.lang = localeOf(language)
  if (keep) {
    try {
      localStorage.setItem('language', language)
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  }
  for (const listener of listeners) listener()
}

/** Loads a group's texts before a screen is rendered with them. */
export function loadTexts(group: TextGroup): Promise<void> {
  const known = wanted.get(group)
  if (known) return known
  const { language } = current()
  const loading = groupOf(group, language).then((texts) => {
    // The texts join the same object, and nothing is rendered again, because no shown screen uses
    // the group yet. If another language was chosen meanwhile, that change has loaded the group
    // itself.
    if (active?.language === language) Object.assign(active.texts, texts)
  })
  wanted.set(group, loading)
  loading.catch(() => wanted.delete(group))
  return loading
}

const localeOf = (language: Language): string => (language === 'aud' ? 'en-AU' : language)

/** The language of the contract's sentences, which has no Australian English. */
export const sentenceLanguage = (language: Language): 'en' | 'vi' =>
  language === 'vi' ? 'vi' : 'en'

function current(): Active {
  if (!active) throw new Error('A language is loaded before anything is drawn')
  return active
}
const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const currentLanguage = (): Language => active?.language ?? preferredLanguage()
export const currentTexts = (): Texts => current().texts
export const useLanguage = (): Language => useSyncExternalStore(subscribe, current).language
/** The texts of every screen, and of the groups that this screen's route has loaded. */
export function useTexts(): Texts
export function useTexts<G extends TextGroup>(...groups: readonly G[]): TextsWith<G>
export function useTexts(): Texts {
  return useSyncExternalStore(subscribe, current).texts
}
export type TextsWith<G extends TextGroup> = Texts & UnionToIntersection<GroupTexts[G]>
type UnionToIntersection<U> = (U extends unknown ? (of: U) => void : never) extends (
  of: infer I,
) => void
  ? I
  : never
