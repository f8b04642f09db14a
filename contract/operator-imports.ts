/** Customers that are brought over from another panel, by a file (decision 157). */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { currency, minor } from './money.ts'
import { needed } from './operator-act.ts'
import { oneLine } from './text.ts'

/** Most rows of a file. */
export const importRows = 20_000
/** Most characters of a file. */
export const importCharacters = 4_000_000

const id = z.string().check(z.maxLength(100))
const yesOrNo = z.enum(['no', 'yes'])

export const importActs = {
  'customers.import': needed(
    'customers.import',
    'money',
    'Create the accounts of an uploaded file of customers, with their balances',
    {
      /** The id that the preview of the file answered. */
      upload: id,
      /** `yes`: each customer gets a letter that asks to choose a password. */
      letters: yesOrNo,
    },
  ),
  'customers.invite': needed(
    'customers.invite',
    'money',
    'Send the letter, or send it again, to imported customers who have chosen no password yet',
    { import: id },
  ),
} as const

const sums = z.array(
  z.object({
    currency,
    /** Accounts that would be created in this currency, and what they bring together. */
    accounts: z.int(),
    amount: minor,
  }),
)

export const ImportPreview = z.object({
  /** The upload, for the act customers.import; null: a row is bad, and nothing was kept. */
  upload: z.nullable(z.string()),
  rows: z.int(),
  accounts: z.int(),
  /** Rows whose customer is here already. */
  skipped: z.int(),
  /** The first fifty of those, and why. */
  skippedRows: z.array(z.object({ line: z.int(), email: z.string(), text: z.string() })),
  sums,
  /** Accounts that have no phone number. */
  withoutPhone: z.int(),
  /** Columns that are not read. */
  ignored: z.array(z.string()),
  /** The first hundred bad rows, by their lines in the file. */
  faults: z.array(z.object({ line: z.int(), text: z.string() })),
  badRows: z.int(),
  /** Whether a second member has to approve the import. */
  needsSecond: z.boolean(),
})
export type ImportPreview = z.output<typeof ImportPreview>

export const previewCustomerImport = endpoint({
  method: 'POST',
  path: '/api/operator/customer-imports/preview',
  access: 'staff',
  may: 'money',
  summary:
    'What a file of customers would create: no account and no balance changes. The file is kept ' +
    'for three days, for the act customers.import',
  body: z.strictObject({
    fileName: oneLine(1, 200),
    /** The file's text: comma- or semicolon-separated values with a header line. */
    file: z.string().check(z.minLength(1), z.maxLength(importCharacters)),
  }),
  // Characters of more than one byte, and those that JSON escapes.
  maxBodyBytes: 4 * importCharacters,
  result: ImportPreview,
})

export const CustomerImport = z.object({
  id: z.string(),
  fileName: z.string(),
  startedAt: z.string(),
  by: z.string(),
  rows: z.int(),
  /** Rows that are worked on already. */
  done: z.int(),
  created: z.int(),
  skipped: z.int(),
  /** Accounts created without their number, which another account had got since the preview. */
  withoutPhone: z.int(),
  doneAt: z.nullable(z.string()),
  /** When it stopped for good, because the file reads otherwise than it was approved. */
  stoppedAt: z.nullable(z.string()),
  lettersAskedAt: z.nullable(z.string()),
  /** Customers of it to whom a letter was sent. */
  written: z.int(),
  /** Customers of it who have chosen a password. */
  came: z.int(),
})
export type CustomerImport = z.output<typeof CustomerImport>

export const customerImports = endpoint({
  method: 'GET',
  path: '/api/operator/customer-imports',
  access: 'staff',
  may: 'look',
  summary: 'Imports of customers that were begun, the newest twenty',
  result: z.array(CustomerImport),
})
