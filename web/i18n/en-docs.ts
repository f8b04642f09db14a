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
    sub: 'Guides for common tasks',
    all: 'All help pages',
    missing: 'Help page not found.',
    write: (address: string) => `Write to ${address}`,
    open: 'Open the support page',
    pages: {
      'top-up': {
        title: 'Top up your wallet',
        sub: 'Pay for all services from a prepaid wallet',
        sections: [
          {
            heading: 'In Vietnam',
            steps: [
              'Open Top up and choose an amount, or type your own.',
              'Choose Local Payment and how you want to pay: Alepay, VietQR, domestic ATM, ' +
                'international card, VN Pay or bank transfer.',
              'Pay on the page that opens. For a bank transfer, scan the QR code or copy ' +
                'account, amount and transfer code exactly.',
              'You return to the portal. We add the money as soon as the bank or gateway ' +
                'confirms, usually within seconds.',
            ],
          },
          {
            heading: 'With a card',
            steps: [
              'Link the card once under Linked cards. Card details go straight to the ' +
                'card provider, never to us.',
              'Open Top up, choose an amount and Credit Card, select the card and confirm.',
              'Your bank may ask you to confirm the payment in its app.',
            ],
          },
          {
            heading: 'When the money does not arrive',
            text: [
              'Payments that your bank has not confirmed yet are shown as pending. The ' +
                'page updates automatically, and we credit each payment exactly once.',
              'Did you leave the bank transfer page before paying? Open Top up to return ' +
                'to it for a day.',
              'We hold a transfer without a readable code until our staff have matched ' +
                'it. Send support its time and amount.',
            ],
          },
        ],
      },
      order: {
        title: 'Order a WordPress server',
        sub: 'From choosing a plan to the first page',
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
              'We charge the first month to your wallet and set up the server, usually in ' +
                'less than a minute. You can leave the page.',
              "If your balance is too low, we'll start your server as soon as you top up.",
              'If the server cannot be set up, we cancel the order and refund your wallet.',
            ],
          },
          {
            heading: 'Later',
            text: [
              'Larger disks and plans apply immediately. You pay for the rest of the ' +
                'month, by the second. Smaller plans apply at renewal. You cannot make a ' +
                'disk smaller.',
            ],
          },
        ],
      },
      dns: {
        title: 'How DNS works here',
        sub: 'Use our name servers for a domain and manage its records',
        sections: [
          {
            heading: 'Activating a domain',
            steps: [
              'Open DNS, choose Create domain and enter a domain you own.',
              'Choose Activate to see the two name servers for your domain.',
              'At your registrar, replace all name servers of the domain with exactly these two.',
              "Choose Check. The change can take up to 24 hours. We'll keep checking for 28 days.",
            ],
          },
          {
            heading: 'Why exactly these two',
            text: [
              'Each account has its own pair, so setting it proves that the domain is ' +
                'yours. With any other name server, visitors may see old results.',
            ],
          },
          {
            heading: 'If the check fails',
            terms: [
              [
                'Not registered',
                'The domain is not registered. Check the spelling, or register it first.',
              ],
              ['Other name servers', 'The domain still uses its old name servers. Replace them.'],
              ['Extra name servers', 'The domain uses ours and others. Remove the others.'],
              [
                'Not served yet',
                'Our name servers do not serve the domain yet. Check again in a minute.',
              ],
              [
                'Stale DS record',
                'The registrar still has a DNSSEC key of your previous provider. Remove ' +
                  'the DS record there.',
              ],
              [
                'Public suffix',
                'Endings such as com.vn are shared. Enter your own domain below them.',
              ],
            ],
          },
          {
            heading: 'Pointing it at your server',
            text: [
              'On the page of the domain, open the menu and choose Point at a WordPress ' +
                'server. Visitors to the domain and its www then reach the server. Undo ' +
                'restores the previous records.',
            ],
          },
        ],
      },
      'dns-records': {
        title: 'Guide to the record types',
        sub: 'What each type is for, with examples',
        sections: [
          {
            heading: 'Types',
            terms: [
              ['A', 'The IPv4 address of a name. Example: @ → 203.0.113.7'],
              ['AAAA', 'The IPv6 address of a name. Example: @ → 2001:db8::7'],
              [
                'CNAME',
                'An alias for another name. It cannot share its name with other records, ' +
                  'or be used at the domain itself. Example: www → example.com',
              ],
              [
                'MX',
                'The server that receives mail, with a priority. The lowest number is ' +
                  'tried first. Example: @ → 10 mail.example.com',
              ],
              [
                'TXT',
                'Text for other services, such as SPF or proof of ownership. Example: @ → ' +
                  'v=spf1 include:example.com ~all',
              ],
              ['NS', 'Uses other name servers for a subdomain. Example: lab → ns1.example.net'],
            ],
          },
          {
            heading: 'Record names and TTL',
            text: [
              'Use @ for the domain itself, and * for every name without its own record.',
              'The TTL is how many seconds others may cache a record. Use 300, or less ' +
                'before a move.',
              'Records with the same name and type share one TTL. The last one saved ' +
                'applies to all; the form tells you first.',
              'We save text that you paste in quotation marks, such as "v=spf1 -all", ' +
                'without them.',
            ],
          },
          {
            heading: 'Import and export',
            text: [
              'Use the menu on the page of a domain to import or export records in BIND ' +
                'format. Review the changes before applying them.',
              'The history shows who made each change and when. You can undo each of them.',
            ],
          },
        ],
      },
      domain: {
        title: 'Use your own domain for a server',
        sub: 'Add a domain to a WordPress server and verify it',
        sections: [
          {
            heading: 'Adding it',
            steps: [
              'Open the server and its Domain tab, choose Add domain and type the name.',
              'Create the record shown where your DNS is managed: a CNAME to the name of ' +
                'the server, an A record, or the TXT record _portal-challenge.',
              'Choose Verify. New records can take up to an hour.',
            ],
          },
          {
            heading: 'When you need the TXT record',
            text: [
              'Use the TXT record if another account had the name, or a name above it, in ' +
                'the last 30 days. Also use it if the name points at an address that many ' +
                'websites share.',
            ],
          },
        ],
      },
      invoice: {
        title: 'Read an invoice',
        sub: 'What its lines and states mean',
        sections: [
          {
            heading: 'States',
            terms: [
              ['Paid', 'Nothing is due.'],
              ['UnPaid', 'Top up your wallet. We pay open invoices automatically, oldest first.'],
            ],
          },
          {
            heading: 'Lines',
            text: [
              'Each line shows the service, quantity, unit price and period. Open a line ' +
                'in the transaction log to see the full calculation.',
              'Your accountant can open the PDF and the invoice page without signing in.',
            ],
          },
          {
            heading: 'For a company',
            text: [
              'Under Account, Billing details, enter the company, its tax code and its ' +
                'address. They are shown on all future invoices; earlier invoices do not ' +
                'change. Invoices here are receipts of the prepaid wallet, not e-invoices ' +
                'for the tax office.',
            ],
          },
          {
            heading: 'If it stays unpaid',
            text: [
              ({ reminderDays, suspendDays, deleteDays }) =>
                `We remind you ${onDays(reminderDays)}. After ${days(suspendDays)} the ` +
                `server is suspended with its data kept, after ${days(deleteDays)} it is ` +
                'deleted. Pay at any time before, and the server starts again automatically.',
            ],
          },
        ],
      },
      support: {
        title: 'Ask our support',
        sub: 'We answer in English and Vietnamese',
        sections: [
          {
            heading: 'What to include',
            steps: [
              'The name of the server or domain, or the code of the payment.',
              'What you did, what you expected, and what happened.',
              'The reference in the error message, if there was one.',
            ],
          },
          {
            heading: 'Please do not send',
            text: ['Passwords, one-time codes or card numbers. We never ask for them.'],
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
