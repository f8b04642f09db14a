import type { TextsWith } from '../i18n/index.ts'
import type { SiteTab } from './site-tabs.ts'

/** The names of the parts of a server's page. */
export const tabNames = (t: TextsWith<'site'>): Record<SiteTab, string> => ({
  general: t.site.general,
  usage: t.site.usageTab,
  logs: t.site.logs,
  disk: t.site.diskTab,
  mariadb: t.site.mariadbTab,
  plans: t.site.plansTab,
  domain: t.site.domainTab,
  speed: t.site.speedTab,
  visitors: t.site.visitorsTab,
  files: t.site.filesTab,
  console: t.site.consoleTab,
  database: t.site.databaseTab,
  mail: t.site.mailTab,
  updates: t.site.updatesTab,
  backups: t.site.backupsTab,
  'move-in': t.site.moveInTab,
})
