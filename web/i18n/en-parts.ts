/** English: the parts of a server's page that are loaded when they are opened. */
import { enUpdates } from './en-updates.ts'
import { plural } from './plural.ts'
import { enMail } from './en-mail.ts'
import { enPhp } from './en-php.ts'
import { enSftp } from './en-sftp.ts'

export const enParts = {
  ...enMail,
  ...enPhp,
  ...enSftp,
  subscription: {
    title: 'Subscription',
    statuses: {
      pending: 'Awaiting its first payment',
      active: 'Active',
      past_due: 'Payment overdue',
      suspended: 'Suspended',
      ended: 'Ended',
    },
    renews: 'Renews on',
    ends: 'Ends on',
    paidUntil: 'Paid until',
    price: 'Price per month',
    renewalPrice: 'Price at the renewal',
    priceRise: (price: string, date: string) =>
      `New price from the renewal on ${date}: ${price} per month.`,
    planned: 'A planned change applies at renewal.',
    overdue: (invoice: string, amount: string) => `Invoice ${invoice} is unpaid: ${amount} due.`,
    suspendsOn: (date: string) => `We suspend the server on ${date} and keep its data.`,
    deletesOn: (date: string) => `We delete the server and its data on ${date}.`,
    backByItself: 'Top up your wallet and we pay this invoice automatically.',
    staysOff: 'Paid, the server stays off until we release it.',
    pay: 'Pay the invoice',
    cancel: 'Cancel subscription',
    cancelTitle: 'Cancel this subscription?',
    cancelText: (name: string) =>
      `Choose when ${name} ends. When it ends, the site, its files and its database are ` +
      'deleted for good.',
    atEnd: (date: string) => `At period end (${date})`,
    atEndHint: 'The server runs until then. You can resume it before that date.',
    now: 'Now',
    nowHint: (amount: string) =>
      `The server is deleted immediately. We refund ${amount} for unused time to your wallet.`,
    nowNothing: 'The server is deleted immediately. Nothing more is due.',
    confirmEnd: 'Cancel at period end',
    confirmNow: 'Delete now',
    keep: 'Keep it',
    willEnd: (date: string) => `Cancelled: this server is deleted on ${date}.`,
    resume: 'Resume subscription',
    cancelled: (date: string) => `Your subscription ends on ${date}.`,
    gone: (name: string, refunds: boolean) =>
      `Subscription cancelled: ${name} is being deleted.` +
      (refunds ? ' We refund unused time to your wallet.' : ''),
    resumed: 'Subscription resumed.',
  },
  resize: {
    mailAnHour: (count: string) => `${count} emails an hour`,
    mirrored: 'Copy on a second machine',
    ssdTitle: 'SSD disk',
    mariadbTitle: 'MariaDB disk',
    size: 'Current size',
    kind: 'Type',
    included: 'Included',
    upgrade: 'Upgrade',
    addDisk: 'Add disk',
    upgradeTitle: 'Upgrade the SSD disk',
    addDiskTitle: 'Add MariaDB disk',
    newSize: 'New size, GB',
    atLeast: (gb: number) => `Whole GB, more than ${gb}. You cannot make a disk smaller.`,
    tooLarge: (gb: number) => `At most ${gb} GB.`,
    before: 'Before',
    after: 'After',
    now: (until: string) => `Charged now (until ${until})`,
    about: (amount: string) => `about ${amount}`,
    short: (balance: string, short: string) => `Wallet ${balance} · short by about ${short}`,
    confirm: 'Upgrade',
    diskDone: 'Update Disk Success !',
    diskFailed: 'Update Disk Fail !',
    sizeDone: 'Update Size Success !',
    sizeFailed: 'Update Size Fail !',
    largest: 'This disk already has the largest size.',
    closed: 'You can change this while the server runs.',
    plans: 'Size plans',
    plan: 'Plan',
    perMonth: 'Price per month',
    current: 'Current',
    keep: 'Keep this plan',
    buy: 'Buy',
    buyOf: (plan: string) => `Buy ${plan}`,
    planned: 'From the renewal',
    plannedNote: (plan: string, count: number, when: string) =>
      `From the renewal on ${when}: ${plan}, ${plural(count, 'container', 'containers')}.`,
    planTitle: (plan: string) => `Change to ${plan}?`,
    planUp: 'Upgrades apply immediately, with no downtime.',
    planDown: (when: string) => `Downgrades apply at renewal, on ${when}.`,
    total: 'Server per month',
    containers: 'Containers',
    containersHint: (max: number) => `1 to ${max}. Increases apply now, decreases at renewal.`,
    apply: 'Apply',
    name: 'Server name',
    nameHint: (domain: string) => `New address: ${domain}. Your last ten addresses keep working.`,
    rename: 'Rename',
    renamed: 'Server renamed.',
  },
  domains: {
    primary: 'Primary domain',
    primaryHint: 'Always works. You cannot remove it.',
    extra: 'Your own domains',
    none: 'No domain of your own yet. Add one so visitors can reach your site.',
    add: 'Add domain',
    label: 'Domain name',
    placeholder: 'shop.example.com',
    ok: 'OK',
    verified: 'Verified',
    lost: 'Not pointing here',
    lostHint: (when: string) => `At the last check, ${when}, it no longer pointed to this server.`,
    verify: 'Verify',
    notVerified: 'Domain is not verified !',
    waiting: 'Waiting for DNS',
    checked: (seconds: number) =>
      `Checked ${seconds} s ago. While this page is open, we check every 30 seconds and add ` +
      'the domain once it is ready.',
    roles: {
      both: 'proves the domain and brings visitors here',
      proves: 'proves that the domain is yours',
      points: 'brings visitors here',
    },
    notPointed: 'Not pointing here yet',
    notPointedHint: 'Domain verified. Create its address record so visitors can reach this site.',
    added: 'Add domain success !',
    failed: 'Update Fail !',
    records:
      'Create these records where your domain is managed. DNS changes can take up to an hour.',
    recordName: 'Name',
    recordValue: 'Value',
    found: (values: string) => `Found now: ${values}`,
    foundNothing: 'Nothing found yet',
    show: 'Show DNS records',
    forget: 'Remove',
    remove: (name: string) => `Remove ${name}`,
    removeTitle: 'Remove this domain?',
    removeText: (name: string) =>
      `${name} stops showing your site. For 30 days, other accounts need a TXT record to add it.`,
    removeButton: 'Remove',
    removed: 'Delete domain success !',
    removeFailed: 'Fail to delete domain!',
    closed: 'You can no longer add domains to this server.',
  },
  address: {
    title: 'Main address',
    label: 'Visitors see your site at',
    hint: 'Visitors of every other address are sent there, so search engines find one site.',
    none: 'Each address by itself',
    each: 'Each address shows the site by itself.',
    chosen: (name: string) => `Visitors are now sent to ${name}.`,
    stored:
      'Links and pictures in posts and settings may still use another address. ' +
      'You can rewrite them.',
    count: 'Check stored addresses',
    found: (values: number, tables: number) =>
      `${values} stored ${values === 1 ? 'value uses' : 'values use'} another address ` +
      `(in ${tables} ${tables === 1 ? 'table' : 'tables'}).`,
    foundNone: (to: string) => `Everything stored uses ${to}.`,
    skipped: (tables: string) => `These tables cannot be rewritten: ${tables}.`,
    write: 'Rewrite them',
    writeTitle: 'Rewrite stored addresses?',
    writeText: (values: number, to: string) =>
      `${values} stored ${values === 1 ? 'value' : 'values'} will use ${to}. ` +
      'Only a backup takes this back: make one first if you are unsure.',
    writing: (values: number) => `Rewriting… ${values} values so far.`,
    written: (values: number, to: string) =>
      `${values} ${values === 1 ? 'value was' : 'values were'} rewritten to ${to}.`,
    stopped: (values: number) => `The rewriting stopped after ${values} values. Try again.`,
  },
  history: {
    title: 'Usage over time',
    range: 'Period',
    day: '24 hours',
    week: '7 days',
    quarter: '90 days',
    now: 'Now',
    today: 'Today',
    empty: 'Nothing recorded yet. The first figures come within ten minutes.',
    none: 'No figures in this period.',
    visits: 'Requests',
    requests: 'All requests',
    cached: 'From the cache',
    times: 'Response time',
    median: 'Median',
    p95: '95th percentile',
    errors: 'Errors',
    serverErrors: 'Server errors (5xx)',
    clientErrors: 'Not found, refused (4xx)',
    processor: (cpu: number) => `Processor (100% is one core; the plan has ${cpu})`,
    cpu: 'Average use',
    memory: (plan: string) => `Memory (the plan has ${plan})`,
    used: 'In use',
    disks: 'Disks',
    files: (plan: string) => `Files, of ${plan}`,
    database: (plan: string) => `Database, of ${plan}`,
    most: (value: string) => `${value} at most`,
  },
  files: {
    title: 'Files',
    root: 'wordpress',
    way: 'Current folder',
    up: 'Up one folder',
    upload: 'Upload',
    uploads: 'Uploads',
    newFolder: 'New folder',
    create: 'Create',
    name: 'Name',
    rename: 'Rename',
    renameTitle: (name: string) => `Rename ${name}`,
    edit: 'Edit',
    save: 'Save',
    saved: (name: string) => `${name} is saved.`,
    download: 'Download',
    remove: 'Delete',
    removeTitle: (name: string) => `Delete ${name}?`,
    removeText: 'The file is deleted at once. A backup is the only way back.',
    removeFolderText:
      'The folder and everything in it are deleted at once. A backup is the only way back.',
    noText: 'This file is not text. You can download it.',
    empty: 'This folder is empty. Drop files here to upload them.',
    notWhole: 'This folder has more files than can be shown here.',
    closed: 'Files can be changed while the server runs.',
    link: 'link, not followed',
    actions: (name: string) => `Actions for ${name}`,
    percent: (share: number) => `${share}%`,
    there: 'There is a file of this name already.',
    replace: 'Replace it',
    stop: (name: string) => `Stop uploading ${name}`,
    sending: (name: string) => `Uploading ${name}`,
    tooLarge: (name: string) => `${name} is larger than 512 MB.`,
  },
  visitors: {
    password: 'Password for visitors',
    passwordText:
      'Visitors enter a user name and a password before they see any page or file: for a shop ' +
      'that is being built, or a site for a few people.',
    passwordIsOn: (user: string) => `Visitors are asked for a password. User name: ${user}`,
    passwordHint:
      'Tell it to the people who may visit. We keep it in a form that nobody can read: write it ' +
      'down. While it is on, apps that sign in to WordPress with an application password cannot.',
    user: 'User name for visitors',
    newPassword: 'Password',
    ask: 'Ask visitors for it',
    change: 'Change',
    remove: 'Ask for no password',
    save: 'Save',
    passwordOn: 'Visitors are asked for the password now.',
    passwordOff: 'Everybody can visit the site again.',
    denied: 'Denied addresses',
    deniedText: 'Visitors from these addresses and networks are told that they may not enter.',
    networks: 'One address or network a line',
    deniedHint: (address: string) =>
      `You come from ${address}. Networks are written as 198.51.100.0/24. 200 lines at most.`,
    deniedSaved: (count: number) =>
      count === 0
        ? 'No address is denied any more.'
        : `Saved: ${plural(count, 'entry', 'entries')}.`,
  },
  ...enUpdates,
  speed: {
    title: 'Page cache',
    enabled: 'Keep pages for visitors',
    hint:
      'Visitors who are not signed in get a ready-made page at once. Every change you make on ' +
      'the site shows immediately. Signed-in visitors, carts and forms never get a kept page.',
    on: 'Page cache is on.',
    off: 'Page cache is off.',
    failed: 'Fail to change the page cache !',
    day: 'Last 24 hours',
    since: (time: string, percent: string | null) =>
      percent === null ? `Since ${time}` : `Since ${time}: ${percent} from the cache`,
    rate: 'Cache hit rate',
    noVisits: 'No visits yet',
    hits: 'From the cache',
    misses: 'Built by WordPress',
    bypassed: 'Not cacheable',
    entries: 'Pages and files kept',
    size: (bytes: string) => `${bytes} of memory`,
    unknown: 'The figures are not available right now.',
    purge: 'Clear cache',
    purgeHint: 'You only need this after changing files in a way WordPress cannot see.',
    purged: (count: number) =>
      count === 0
        ? 'The cache was empty.'
        : `Cache cleared: ${plural(count, 'page or file', 'pages and files')}.`,
    purgeFailed: 'Fail to clear the cache !',
    closed: 'The cache works while the server runs.',
  },
  https: {
    issued: 'HTTPS active',
    pending: 'Setting up HTTPS',
    failed: 'No HTTPS',
    expired: 'Certificate expired',
    by: (issuer: string, from: string, until: string) =>
      `Certificate from ${issuer}, issued ${from}, valid until ${until}. Renews automatically.`,
    pendingHint: 'We are requesting a certificate. This usually takes less than a minute.',
    notRenewed: (until: string) =>
      `The certificate is valid until ${until}, but its renewal failed.`,
    next: (when: string) => `Next automatic try: ${when}`,
    retry: 'Try again',
    retried: 'Requesting the certificate again…',
    retryFailed: 'We could not start another try !',
    said: (detail: string) => `Answer of the certificate authority: ${detail}`,
    problems: {
      not_pointed: (found: string) =>
        found === ''
          ? 'This domain has no address record yet. Create its DNS records so it points here.'
          : `This domain points to ${found}, not to this server. Correct its DNS records.`,
      dns: () =>
        'The certificate authority could not look up this domain. Check its DNS records and name ' +
        'servers.',
      connection: () =>
        'The certificate authority could not reach your site. Check that all address records ' +
        'point here and that no firewall or CDN stands in between.',
      unauthorized: () =>
        'The certificate authority reached another server. Remove address records (A, AAAA) that ' +
        'do not point here, and turn off the proxy of your CDN.',
      caa: () =>
        "The domain's CAA record does not allow our certificate authority. Add it to the record, " +
        'or remove the record.',
      rate_limited: () =>
        'Too many certificates were requested for this domain lately. You need not do anything: ' +
        'we request it again as soon as it is allowed.',
      refused: () =>
        'The certificate authority does not issue certificates for this name. Check its ' +
        'spelling, or contact support.',
      unavailable: () =>
        'The certificate authority is not responding. You need not do anything: we keep trying.',
      account: () => 'The problem is on our side, and our team has been alerted.',
      zone_elsewhere: () => 'The problem is on our side, and our team has been alerted.',
    },
    title: 'Secure connection',
    only: 'Always use HTTPS (HSTS)',
    onlyHint:
      'Browsers remember for one year to open your own domains only over HTTPS. Turn it on once ' +
      'all of them work over HTTPS.',
    onlyOn: 'Browsers will use HTTPS only.',
    onlyOff: 'Browsers will forget the rule on their next visit.',
    onlyFailed: 'The setting could not be saved !',
  },
  backups: {
    title: 'Backups',
    about: 'Nightly and on demand. We test-restore every backup before marking it verified.',
    leftTitle: 'This server was deleted',
    leftText:
      'You can download its backups, files and database, for a few more days. Then we delete them.',
    make: 'Back up now',
    begun: 'Backup started.',
    none: 'No backups yet. The first one runs tonight. You can also back up now.',
    noneYet: 'No backups yet. The first one runs tonight.',
    closed: 'You can back up and restore while the server runs.',
    more: 'Show older',
    manual: 'Manual',
    beforeUpdate: 'Before an update',
    nightly: 'Nightly',
    mirrored: (when: string) =>
      `A copy on a second machine follows this server. It has everything up to ${when}. If the ` +
      'machine fails, we bring your site up from there.',
    making: 'In progress',
    proven: 'Verified',
    failed: 'Failed',
    failedHint:
      'Your server is unchanged. The next backup runs tonight. You can also try again now.',
    holds: (files: number, rows: number) => `${files} files, ${rows} rows`,
    provenAt: (when: string) => `Test-restored and compared ${when}`,
    restoring: 'Restoring…',
    restoredAt: (when: string) => `Restored from this backup on ${when}`,
    restoreFailedAt: (when: string) => `Restore failed on ${when}. Your server is unchanged.`,
    restore: 'Restore',
    restoreOf: (when: string) => `Restore the backup of ${when}`,
    restoreTitle: 'Restore this backup?',
    restoreText: (name: string, when: string) =>
      `Files and database of ${name} return to ${when}. Later changes are lost. Visitors ` +
      'see a waiting page for a few seconds. Plan, price and domains stay the same.',
    restoreBegun: 'Restore started.',
    downloadOf: (when: string) => `Download the backup of ${when}`,
  },
  logs: {
    title: 'Runtime Logs',
    connecting: 'Connecting…',
    live: 'Live',
    paused: 'Paused',
    reconnecting: 'Reconnecting…',
    follow: 'Follow',
    pause: 'Pause',
    resume: 'Resume',
    search: 'Search in the log',
    wrap: 'Wrap lines',
    download: 'Download',
    clear: 'Clear',
    matches: (count: number) => plural(count, 'line', 'lines'),
    newLines: (count: number) => plural(count, 'new line', 'new lines'),
    none: "No lines yet. Your site's log appears here.",
    noMatch: 'No matching lines.',
    failed: (url: string) => `Fail ! Can not connect to ${url}`,
    notRunning: 'Logs appear when the server runs.',
    dropped: (count: number) => `Only the last ${count} lines are kept.`,
  },
}
