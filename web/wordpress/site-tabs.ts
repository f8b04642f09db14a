/**
 * The parts of a server's page, as its address names them: what the customer has bought, and, from
 * `speed` on, what runs on it.
 */
export const siteTabs = [
  'general',
  'usage',
  'logs',
  'disk',
  'mariadb',
  'plans',
  'domain',
  'speed',
  'visitors',
  'files',
  'console',
  'database',
  'mail',
  'updates',
  'backups',
  'move-in',
] as const
export type SiteTab = (typeof siteTabs)[number]

/**
 * Parts that need write access even to be read: opening them changes something or grants access.
 */
const working: ReadonlySet<SiteTab> = new Set(['logs', 'console', 'database', 'move-in'])
/** The parts that this user may open. */
export const openTabs = (mayWrite: boolean): readonly SiteTab[] =>
  mayWrite ? siteTabs : siteTabs.filter((tab) => !working.has(tab))
