/** Mends of bounced letters, of shares of certificates, and of the common count of a disk. */
import type { Mend } from './mend.ts'

export const mailAndShares: readonly Mend[] = [
  // A letter would use the site's own sender as its return path, so nobody would see its bounce.
  {
    finding: 'W7',
    guard: 'server/wordpress/mail/returned.test.ts',
    title: 'is shown with code and reason',
    edits: [
      {
        file: 'server/wordpress/mail/send.ts',
        mended: 'from: deps.returnPaths?.addressOf(one.id) ?? letter.from_address,',
        without: 'from: letter.from_address,',
      },
    ],
  },
  {
    finding: 'W7',
    guard: 'server/wordpress/mail/returned.test.ts',
    title: 'that is forged changes nothing',
    edits: [
      {
        file: 'server/platform/signed-address.ts',
        mended: ' || !sameText(signature, signatureOf(digits))',
        without: '',
      },
    ],
  },
  // One customer could use up an authority's limit for all customers.
  {
    finding: 'W8',
    guard: 'server/certificates/fair-share.test.ts',
    title: 'a customer with many names leaves room',
    edits: [
      {
        file: 'server/certificates/turns.ts',
        mended: 'return Math.max(0, ofShare, ofFirst)',
        without: 'return Math.max(limit, ofShare, ofFirst)',
      },
    ],
  },
  {
    finding: 'W8',
    guard: 'server/certificates/fair-share.test.ts',
    title: 'a server is shown by HTTP until',
    edits: [
      {
        file: 'server/wordpress/store.ts',
        mended: 'shownScheme: () => (isCovered() ? config.sitesScheme : ',
        without: 'shownScheme: () => (isCovered() ? config.sitesScheme : config.sitesScheme || ',
      },
    ],
  },
  // Two processes could see the same free space at the same moment, and both use it.
  {
    finding: 'W13',
    guard: 'server/wordpress/drivers/embedded/disk-lease.test.ts',
    title: 'four real processes at once',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/disk-lease.js',
        mended: '        this.#publish()\n        this.listen()\n',
        without: '        this.listen()\n',
      },
    ],
  },
  {
    finding: 'W13',
    guard: 'server/wordpress/drivers/embedded/disk.test.ts',
    title: 'containers of one site together',
    edits: [
      {
        file: 'runtimes/wordpress-wasm/src/php-worker.js',
        mended: '    countDir: order.countDir,\n',
        without: '',
      },
    ],
  },
]
