import type { updateReasons } from '../../contract/wordpress-updates.ts'
import { plural } from './plural.ts'

type Reason = (typeof updateReasons)[number]
const reasons: Record<Reason, string> = {
  pages_differ: 'The site did not look the same afterwards, so we put it back as it was.',
  backup_failed: 'The backup before the update failed, so nothing was changed. Please try again.',
  slow_backup:
    'The backup took too long to keep the site consistent, so nothing was changed. Please ' +
    'contact support.',
  no_room: 'The disk has no room for the update. Nothing was changed. Make room or enlarge it.',
  package_unusable:
    'The file from the directory was not what it should be, so it was not installed.',
  directory_unavailable:
    'The directory of WordPress did not answer. Nothing was changed. Please try again later.',
  not_running: 'The server was not running.',
  busy: 'Another update was under way.',
  withdrawn: 'The release was withdrawn, or was installed already.',
  not_rolled_back:
    'The update went wrong and could not be undone. The backup from before it is kept under ' +
    'Backups. Our staff has been told.',
  wave_stopped: 'Your provider stopped this update for all sites.',
  node_lost:
    'The machine of the server failed during the update. The server was brought up on another ' +
    'one from its backup.',
  unexpected: 'The site did not answer before the update, so nothing was changed.',
}

export const enUpdates = {
  updates: {
    title: 'Updates',
    about:
      'Every update starts with a backup. Ten pages and the wp-admin sign-in are checked before ' +
      'and after; if anything breaks, files and database go back to how they were.',
    look: 'Check now',
    lookedAt: (time: string) => `Last checked ${time}`,
    neverLooked: 'Not checked yet. This happens by itself within ten minutes.',
    closed: 'Updates are installed while the server runs.',
    off: 'This portal does not look for updates. Ask your provider.',
    upToDate: 'Everything is up to date.',
    newer: (count: number) => plural(count, 'update available', 'updates available'),
    all: 'Update all',
    one: 'Update',
    oneOf: (name: string, version: string) => `Update ${name} to ${version}`,
    begun: 'The update has started.',
    kinds: { core: 'WordPress', plugin: 'Plugins', theme: 'Themes' },
    inactive: 'Inactive',
    security: 'Security',
    newestLabel: 'Up to date',
    available: (version: string) => `Version ${version} is available`,
    needs: {
      php: (version: string) => `Version ${version} needs a newer PHP than this server has.`,
      wordpress: (version: string) => `Version ${version} needs a newer WordPress first.`,
    },
    undoneBefore: (version: string) => `Version ${version} was undone here before.`,
    confirmTitle: 'Update now?',
    confirmText: (count: number) =>
      `${plural(count, 'update', 'updates')} will be installed. Visitors can read the site all ` +
      'the time. Forms, orders and logins wait until it is done, usually less than a minute.',
    confirmUndone: 'This release was undone here before. It will probably be undone again.',
    confirm: 'Update now',
    running: {
      waiting: 'Getting the files',
      saving: 'Backing up',
      updating: 'Installing',
      checking: 'Checking your pages',
      rolling_back: 'Putting everything back',
    },
    runningTitle: (names: string) => `Updating ${names}`,
    runningHint: 'You can leave this page. Forms and logins wait until it is done.',
    policyTitle: 'Automatic updates',
    policyAbout:
      'For plugins and themes. Security releases of WordPress itself are always installed.',
    policies: {
      security: ['Security only', 'Releases that close a security hole. Recommended.'],
      all: ['All', 'Every new version of plugins and themes.'],
      none: ['None', 'You update plugins and themes yourself.'],
    },
    policySaved: 'Automatic updates changed.',
    next: (time: string) => `Next automatic update: ${time}, at night where the server stands.`,
    history: 'History',
    noHistory: 'No updates yet.',
    more: 'Show older',
    ends: {
      done: 'Installed',
      rolled_back: 'Undone',
      failed: 'Not installed',
      skipped: 'Skipped',
      waiting: 'In progress',
      saving: 'In progress',
      updating: 'In progress',
      checking: 'In progress',
      rolling_back: 'In progress',
    },
    causes: { owner: 'Started by you', automatic: 'Automatic', wave: 'By your provider' },
    compared: (count: number) => plural(count, 'page checked', 'pages checked'),
    reasons,
    differences: {
      status: (path: string, before: string, after: string) =>
        `${path} answered ${after} instead of ${before}.`,
      title: (path: string, before: string, after: string) =>
        `The title of ${path} changed from “${before}” to “${after}”.`,
      text: (path: string) => `Most of the text of ${path} changed or was gone.`,
      unreachable: (path: string) => `${path} did not answer.`,
      sign_in: 'Signing in to wp-admin failed.',
      database: 'WordPress could not upgrade its database.',
      package: (name: string) => `${name} could not be installed.`,
    },
    moreDifferences: (count: number) =>
      `And ${plural(count, 'more difference', 'more differences')}.`,
  },
}
