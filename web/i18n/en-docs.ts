import type { Config } from '../../contract/system.ts'

/**
 * English: the pages that explain the portal. Each section is a heading with paragraphs, or with
 * steps in their order.
 */
export interface DocSection {
  readonly heading: string
  /** A function where a paragraph names days that the operator sets. */
  readonly text?: readonly (string | ((days: Config['unpaid']) => string))[]
  readonly steps?: readonly string[]
  /** Two columns: a term and what it means. */
  readonly terms?: readonly (readonly [string, string])[]
}
export interface DocPage {
  readonly title: string
  readonly sub: string
  readonly sections: readonly DocSection[]
}

const days = (count: number): string => (count === 1 ? '1 day' : `${count} days`)
const list = new Intl.ListFormat('en-GB', { type: 'conjunction' })

/** [0, 3, 6]: "when it falls due and again after 3 and 6 days". */
function onDays(reminders: readonly number[]): string {
  const after = reminders.filter((day) => day > 0)
  const later = `after ${list.format(after.map(String))} ${after.at(-1) === 1 ? 'day' : 'days'}`
  if (after.length === reminders.length) return later
  return after.length === 0 ? 'when it falls due' : `when it falls due and again ${later}`
}

export const enDocs = {
  docs: {
    title: 'Help',
    sub: 'How to do what most people come for.',
    all: 'All help pages',
    missing: 'There is no such help page.',
    write: (address: string) => `Write to ${address}`,
    open: 'Open the support page',
    noContact: 'Please reply to any invoice that we mailed to you: it reaches our support.',
    pages: {
      'top-up': {
        title: 'Top up your wallet',
        sub: 'You pay for everything from a prepaid wallet.',
        sections: [
          {
            heading: 'In Vietnam',
            steps: [
              'Open Top up and choose an amount, or type your own.',
              'Choose Local Payment and how you want to pay: Alepay, VietQR, domestic ATM, ' +
                'international card, VN Pay or bank transfer.',
              'Pay on the page that opens. For a bank transfer, scan the QR code or copy ' +
                'account, amount and transfer code exactly.',
              'You come back to the portal. The balance grows as soon as the bank or gateway ' +
                'confirms, usually within seconds.',
            ],
          },
          {
            heading: 'With a card',
            steps: [
              'Link the card once under Linked cards. Its number goes to the card provider ' +
                'and never reaches us.',
              'Open Top up, choose an amount and Credit Card, select the card and confirm.',
              'Your bank may ask you to confirm the payment in its app.',
            ],
          },
          {
            heading: 'When the money does not arrive',
            text: [
              'A payment that your bank has not confirmed yet is shown as pending, and its ' +
                'page updates by itself. It is credited exactly once, however often you reload.',
              'You left the page of a bank transfer before you made it? Top up leads back to ' +
                'it for a day.',
              'A bank transfer without a readable transfer code is kept safe until our staff ' +
                'has matched it: write to support with the time and amount.',
            ],
          },
        ],
      },
      order: {
        title: 'Order a WordPress server',
        sub: 'From the plan to the first page.',
        sections: [
          {
            heading: 'Ordering',
            steps: [
              'Open WordPress and choose New WordPress.',
              'Choose a data centre, a plan, the SSD disk and the MariaDB disk. Some data ' +
                'centres start at 20 GB.',
              'Choose the name and password of the WordPress administrator. The password ' +
                'needs 8 characters with a letter, a digit and one of ! @ # $ % ^ & *.',
              'Check the monthly total in the summary and confirm.',
            ],
          },
          {
            heading: 'What happens then',
            text: [
              'The first month is charged from your wallet and the server is set up, usually ' +
                'in less than a minute. You may leave the page.',
              'If the balance is too low, the order waits: a top-up pays it, and the order ' +
                'goes on by itself.',
              'If the server does not come up, the order is cancelled and its money is back ' +
                'in your wallet.',
            ],
          },
          {
            heading: 'Later',
            text: [
              'A larger disk or plan acts at once and is charged for the rest of the month, ' +
                'by the second. A smaller plan begins with the next renewal. Disks only grow.',
            ],
          },
        ],
      },
      dns: {
        title: 'How DNS works here',
        sub: 'Point a domain at our name servers and manage its records.',
        sections: [
          {
            heading: 'Activating a domain',
            steps: [
              'Open DNS, choose Create domain and enter the domain that you own.',
              'Choose Activate: it lists the two name servers of your account.',
              'At the company where you registered the domain, replace all of its name ' +
                'servers with exactly these two.',
              'Choose Check. The change can take up to 24 hours to reach the parent zone; we ' +
                'also look by ourselves for 28 days.',
            ],
          },
          {
            heading: 'Why exactly these two',
            text: [
              'Each account has its own pair. Seeing that pair at the parent zone proves that ' +
                'the domain is yours. Any other name server beside them would answer with other ' +
                'records.',
            ],
          },
          {
            heading: 'If the check fails',
            terms: [
              [
                'Not registered',
                'The parent zone does not know the domain. Check the spelling, or register it ' +
                  'first.',
              ],
              ['Other name servers', 'The registrar still names the old ones. Replace them.'],
              ['Extra name servers', 'Ours are there, and others too. Remove the others.'],
              [
                'Not answering',
                'The parent zone names the right servers, and ours have not taken the domain ' +
                  'up yet. Check again in a minute.',
              ],
              [
                'Stale DS record',
                'The registrar still has a DNSSEC key of your former provider. Remove the DS ' +
                  'record there.',
              ],
              [
                'Public suffix',
                'Names such as com.vn belong to everybody: enter your own name below it.',
              ],
            ],
          },
          {
            heading: 'Pointing it at your server',
            text: [
              'On the page of the domain, open the menu and choose Point at a WordPress ' +
                'server: the records are written and the server answers on the domain and on ' +
                'www. What stood there before can be brought back with Undo.',
            ],
          },
        ],
      },
      'dns-records': {
        title: 'Guide to the record types',
        sub: 'What each type is for, with examples.',
        sections: [
          {
            heading: 'Types',
            terms: [
              ['A', 'The IPv4 address of a name. Example: @ → 203.0.113.7'],
              ['AAAA', 'The IPv6 address of a name. Example: @ → 2001:db8::7'],
              [
                'CNAME',
                'Another name for a name, alone at its name and never at the domain itself. ' +
                  'Example: www → example.com',
              ],
              [
                'MX',
                'The server that takes mail, with a priority: the lowest number is tried ' +
                  'first. Example: @ → 10 mail.example.com',
              ],
              [
                'TXT',
                'Text that others look for, such as SPF or a proof of ownership. Example: @ → ' +
                  'v=spf1 include:example.com ~all',
              ],
              ['NS', 'Hands a sub-domain to other name servers. Example: lab → ns1.example.net'],
            ],
          },
          {
            heading: 'Names and time to live',
            text: [
              '@ stands for the domain itself, * for every name that has no record of its own.',
              'The TTL says for how many seconds others may remember the answer: 300 is a ' +
                'good value, a lower one before a move.',
              'Records of the same name and type form a set with one TTL: the one that is ' +
                'saved last counts for all, and the form says so before.',
              'A text that was copied with its quotation marks, such as "v=spf1 -all", is ' +
                'kept without them.',
            ],
          },
          {
            heading: 'Import and export',
            text: [
              'The menu on the page of a domain takes a zone file in BIND format, shows what ' +
                'it would change before anything does, and exports one.',
              'Every change is kept in the history with who made it and when, and can be undone.',
            ],
          },
        ],
      },
      domain: {
        title: 'Use your own domain for a server',
        sub: 'Add a domain to a WordPress server and verify it.',
        sections: [
          {
            heading: 'Adding it',
            steps: [
              'Open the server and its Domain tab, choose Add domain and type the name.',
              'Make the record that is shown, at whoever answers for the domain: a CNAME to ' +
                'the name of the server, an A record, or the TXT record _portal-challenge.',
              'Choose Verify. New records can take a few minutes to be seen.',
            ],
          },
          {
            heading: 'When only the TXT record counts',
            text: [
              'If the name, or a name above it, belonged to another account in the last 30 ' +
                'days, or if it points at an address that many websites share, only the TXT ' +
                'record proves that it is yours.',
            ],
          },
        ],
      },
      invoice: {
        title: 'Read an invoice',
        sub: 'What its lines and states mean.',
        sections: [
          {
            heading: 'States',
            terms: [
              ['Paid', 'Nothing is due.'],
              [
                'UnPaid',
                'The amount due waits for your wallet: a top-up pays open invoices, oldest first.',
              ],
            ],
          },
          {
            heading: 'Lines',
            text: [
              'Every line names what is charged, its quantity, its unit price and the period. ' +
                'In the transaction log, a line opens the calculation with every number that ' +
                'went into it.',
              'The PDF and the hosted page work without signing in, for your accountant.',
            ],
          },
          {
            heading: 'For a company',
            text: [
              'Under Account, Billing details, enter the company, its tax code and its ' +
                'address. They stand on every invoice from then on; those that were issued ' +
                'before keep the name they had. They are receipts of the prepaid wallet, not ' +
                'e-invoices for the tax office.',
            ],
          },
          {
            heading: 'If it stays unpaid',
            text: [
              ({ reminderDays, suspendDays, deleteDays }) =>
                `We remind you ${onDays(reminderDays)}. After ${days(suspendDays)} the server ` +
                `is suspended with its data kept, after ${days(deleteDays)} it is deleted. ` +
                'Paid at any time before, it resumes by itself.',
            ],
          },
        ],
      },
      support: {
        title: 'Ask our support',
        sub: 'We answer in English and Vietnamese.',
        sections: [
          {
            heading: 'What helps us to help you',
            steps: [
              'The name of the server or domain, or the code of the payment.',
              'What you did, what you expected, and what you saw instead.',
              'The reference that an error message shows, if there was one.',
            ],
          },
          {
            heading: 'Please do not send',
            text: ['Passwords, one-time codes or card numbers: we never ask for them.'],
          },
        ],
      },
    } satisfies { readonly [name: string]: DocPage } as { readonly [N in DocName]: DocPage },
  },
}

export const docNames = [
  'top-up',
  'order',
  'dns',
  'dns-records',
  'domain',
  'invoice',
  'support',
] as const
export type DocName = (typeof docNames)[number]
