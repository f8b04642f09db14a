/** English: the form of one record. */
import { plural } from './plural.ts'

export const enDnsRecord = {
  record: {
    addTitle: 'Add DNS record',
    editTitle: 'Edit DNS record',
    notFound: 'This record was not found. It may have been deleted, or the address is wrong.',
    name: 'Name',
    namePlaceholder: 'Use @ for the root domain',
    type: 'Type',
    ttl: 'TTL',
    ttlAside: 'seconds',
    priority: 'Priority',
    priorityHint: 'Mail servers with the lowest number are tried first.',
    priorityUnused: 'Only MX records use it.',
    labels: {
      A: 'IPV4',
      AAAA: 'IPV6',
      TXT: 'Content',
      MX: 'Mail Server',
      NS: 'Name Server',
      CNAME: 'Target',
    },
    proxied: 'Proxied',
    proxiedHint: 'Traffic passes through the CDN before it reaches your server.',
    proxiedType: 'Only A, AAAA and CNAME records can be proxied.',
    summary: 'Summary',
    ip: 'IP',
    save: 'Confirm and save the record',
    saved: 'The record is saved.',
    failed: 'Fail to add record to domain !',
    reload: 'Load the current version',
    editFailed: 'The record is not saved.',
    missing: 'Please input info record !',
    required: 'Please fill this in.',
    quoted: (text: string) => `Saved without quotation marks: ${text}`,
    along: (count: number, of: string, from: string, to: string) =>
      count === 1
        ? `The other ${of} record gets this TTL too: ${to} instead of ${from}. Records of one ` +
          'name and type share one TTL.'
        : `The ${count} other ${of} records get this TTL too: ${to} instead of ${from}. Records ` +
          'of one name and type share one TTL.',
    alongProxied: (count: number, of: string) =>
      count === 1
        ? `This switch also changes the other ${of} record.`
        : `This switch also changes the ${count} other ${of} records.`,
    savedAlong: (count: number, ttl: string) =>
      `The record is saved. ${plural(count, 'other record', 'other records')} of the same ` +
      `name and type changed with it (TTL: ${ttl}).`,
  },
}
