/** The parts of a server's page, as its address names them. */
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
