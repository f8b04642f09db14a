import { plural } from './plural.ts'

/** Customers that are brought over from another panel. */
export const enDeskImports = {
  open: 'Import customers',
  title: 'Import customers',
  sub: 'From WHMCS or another panel: accounts and balances, by a CSV file.',
  back: 'All customers',
  file: 'CSV file',
  fileHint:
    'A header line with email and region (VN, AUD, USD, EURO) or currency; also name, phone, ' +
    'language, balance and reference. Nothing is created yet.',
  look: 'Preview',
  none: 'Choose a file first.',
  preview: 'Preview',
  nothingYet: 'Nothing has been created yet.',
  rows: (n: number) => plural(n, 'row', 'rows'),
  accounts: 'Accounts to create',
  skipped: 'Skipped: the customer is here already',
  withoutPhone: 'Without a phone number',
  balances: (currency: string) => `Balances in ${currency}`,
  ofAccounts: (n: number) => plural(n, 'account', 'accounts'),
  ignored: 'Columns that are not read',
  line: (n: number) => `Line ${n}`,
  bad: (n: number) => `${plural(n, 'row is', 'rows are')} bad: nothing can be imported.`,
  badMore: (n: number) => `and ${n} more`,
  allKnown: 'Every customer of this file has an account already: there is nothing to import.',
  needsSecond: 'The balances are above the limit: a second member has to approve the import.',
  start: 'Import',
  list: 'Imports',
  empty: 'Nothing was imported yet.',
  by: (name: string, when: string) => `${name} · ${when}`,
  progress: (done: number, all: number) => `${done} of ${all}`,
  running: 'Running',
  done: 'Done',
  stopped: 'Stopped',
  stoppedWhy:
    'Stopped: the portal was updated and reads this file differently from what was approved. ' +
    'Preview and import the file again: customers who are here by now are skipped.',
  created: (n: number) => `${plural(n, 'account', 'accounts')} created`,
  skippedOf: (n: number) => `${n} skipped`,
  phonesLost: (n: number) => `${n} without their phone: another account has it now`,
  written: (n: number) => `${plural(n, 'letter', 'letters')} sent`,
  came: (came: number, all: number) => `${came} of ${all} have chosen a password`,
  reference: (reference: string) => `former id ${reference}`,
  notYet: 'No password chosen yet',
}
export type DeskImportTexts = typeof enDeskImports

export const enImportActs = {
  names: {
    'customers.import': 'Import customers',
    'customers.invite': 'Send the letter',
  },
  explain: {
    'customers.import':
      'Accounts are created with their balances. Nobody can sign in until the customer has ' +
      'chosen a password by a code that we send by email.',
    'customers.invite':
      'Customers of this import who have chosen no password yet get the letter (again); at most ' +
      'once in 24 hours.',
  },
  fields: {
    letters: 'Send each customer a letter that asks to choose a password?',
    lettersHint: 'You can also send it later. More than 500 letters need a second member.',
  },
  facts: {
    accounts: 'Accounts',
    skipped: 'Skipped',
    letters: 'Letters',
    VND: 'Balances in VND',
    AUD: 'Balances in AUD',
    USD: 'Balances in USD',
    EUR: 'Balances in EUR',
  },
}
