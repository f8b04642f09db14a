/** The parts of a server's page, as its address names them. */
export const siteTabs = [
  'general',
  'logs',
  'disk',
  'mariadb',
  'plans',
  'domain',
  'backups',
] as const
export type SiteTab = (typeof siteTabs)[number]
