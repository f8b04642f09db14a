import type { FileState, VersionSource } from '../../contract/operator-catalog.ts'
import { plural } from './plural.ts'

type Labels = Readonly<Record<string, string>>
const people = (n: number): string => plural(n, 'customer', 'customers')
const contracts = (n: number): string => plural(n, 'subscription', 'subscriptions')

/** The desk's page about what is sold. */
export const enDeskCatalog = {
  title: 'Catalogue',
  sub: 'What is sold, where, and for how much.',
  edit: 'Edit',
  draft: 'Go on with the draft',
  back: 'Back to the catalogue',
  version: (n: number) => `Version ${n}`,
  plans: 'Plans',
  disks: 'Disks, 1 GB a month',
  dataCentres: 'Data centres',
  ssdPerGb: 'SSD disk',
  mariadbPerGb: 'MariaDB disk',
  sold: 'Sold',
  notSold: 'Not sold any more',
  size: (cpu: string, ramGb: string, mail: string) =>
    `${cpu} CPU · ${ramGb} GB RAM · ${mail} emails an hour`,
  from: (disk: string) => `disks from ${disk} GB`,
  instead: (price: string) => `instead of ${price}`,
  waits: (when: string, who: string) => `A version of ${who} waits and counts from ${when}.`,
  couldNot: (when: string, who: string) =>
    `The version of ${who} for ${when} did not count: what is sold was changed since it was made.`,
  files: {
    former: (origin: string) => `The file of ${origin} is an earlier one and is not in use.`,
    would_take_back: (origin: string) =>
      `The file of ${origin} sells otherwise than was published here and is not in use.`,
    in_use: () => '',
  } satisfies Record<FileState, (origin: string) => string>,
  fileHow: 'npm run portal -- catalog diff, show or use',
  versions: 'Versions',
  sources: { file: 'File', use: 'File, by command', desk: 'Desk' } satisfies Record<
    VersionSource,
    string
  >,
  approved: (name: string) => `approved by ${name}`,
  restores: (n: number) => `brings version ${n} back`,
  unreadable: 'This release cannot read it.',
  first: 'The first one.',
  same: 'Sells the same as the one before.',
  lines: (n: number) => plural(n, 'change', 'changes'),
  sellAgain: 'Sell by it again',
  inUse: 'In use',
  editor: {
    title: 'Edit the catalogue',
    sub: (n: number) => `A draft on version ${n}. It stays in this browser tab until published.`,
    copy: 'New plan from this',
    copyName: (name: string) => `${name} copy`,
    newCentre: 'New data centre',
    remove: 'Remove',
    isNew: 'New',
    mirrorHint: 'On: a copy on a second node follows each server. It takes as much room there.',
    stopHint: 'Off: nobody can order it. Who has it keeps it at their price.',
    stopCentreHint: 'Off: nobody can order there. Servers that are there go on.',
    look: 'Look at what changes',
    discard: 'Discard draft',
    faults: 'Some fields need another value.',
    outdated: (n: number) =>
      `Version ${n} counts by now, and this draft began on an earlier one. Discard it and begin ` +
      'again.',
  },
  fields: {
    name: 'Name',
    cpu: 'CPU',
    ram: 'RAM in MB',
    mailAnHour: 'Emails an hour',
    mirrored: 'Mirror',
    price: 'Price',
    sale: 'Sale price',
    country: 'Country (two letters)',
    minDiskGb: 'Smallest disk in GB',
    sold: 'Sold',
    new: 'new',
    gone: 'gone',
  } as Labels,
  of: { plan: '', disk: '', dataCentre: 'data centre' } as Labels,
  preview: {
    title: 'What changes',
    undo: (n: number) => `Sell by version ${n} again`,
    proposed: 'What waits for approval',
    countsFrom: 'Counts from',
    countsFromHint: 'Empty: now. In your own time zone.',
    changes: 'Line by line',
    nothing: 'Nothing changes.',
    prices: 'Whose price changes',
    nobody: (n: number) => `Nobody’s price changes, of ${contracts(n)} that run.`,
    ofRunning: (n: number) => `Of ${contracts(n)} that run.`,
    month: (currency: string) => `${currency} a month`,
    monthHint: 'Sum of those whose price changes, before and after',
    rises: (customers: number, n: number) => `Dearer: ${contracts(n)} of ${people(customers)}`,
    falls: (customers: number, n: number) => `Cheaper: ${contracts(n)} of ${people(customers)}`,
    renewals: (first: string, last: string) =>
      first === last ? `at the renewal on ${first}` : `at renewals from ${first} to ${last}`,
    rule:
      'A dearer price is announced by email once it counts, and acts on renewals 30 days later. ' +
      'A cheaper one acts on the next renewal. New orders cost it at once.',
    kept: 'Not sold any more',
    keeps: (plan: string, n: number) =>
      n === 0
        ? `${plan}: nobody has it.`
        : `${plan}: ${plural(n, 'server keeps', 'servers keep')} it at the price that it has.`,
    letter: 'The email',
    letterHint: 'To each customer whose price rises; here is one of them.',
    english: 'English',
    vietnamese: 'Vietnamese',
    second: 'A plan is new, or a price changes by more than a fifth: a second member must approve.',
    publish: 'Publish',
    backToDraft: 'Back to the draft',
    seeIt: 'See what changes',
  },
}

export const enCatalogActs = {
  names: {
    'catalog.publish': 'Publish catalogue',
    'catalog.withdraw': 'Take back',
  },
  explain: {
    'catalog.publish':
      'New orders cost the new prices from then on. Customers whose price rises get an email, ' +
      'and pay it 30 days later.',
    'catalog.withdraw': 'It does not count. What is sold now goes on.',
  },
  facts: {
    changes: 'Changes',
    version: 'Version',
    countsAt: 'Counts from',
    restores: 'Version that comes back',
    waits: 'Waits',
  },
}
