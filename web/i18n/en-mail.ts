import { plural } from './plural.ts'

/** The tab of a server about the email that it sends. */
export const enMail = {
  mail: {
    title: 'Email from this server',
    enabled: 'Let the site send email',
    hint:
      'Orders, contact forms and password resets go out through our mail server. When this is ' +
      'off, WordPress is told at once that nothing was sent.',
    on: 'Email is on.',
    off: 'Email is off. Messages that were waiting are not sent.',
    failed: 'Fail to change email !',
    suspended: 'Sending is suspended',
    causes: {
      bounces:
        'Many of the last messages were refused because their addresses do not exist or do not ' +
        'want them.',
      complaint: 'Somebody who received messages of this site complained.',
      operator: 'We suspended sending.',
    },
    toDo:
      'The site itself keeps running, and waiting messages are kept. Find the form or plugin ' +
      'that sends these messages, fix it, then write to us to resume sending.',
    hour: 'Sent in the last hour',
    ofLimit: (used: string, limit: string) => `${used} of ${limit}`,
    limitHint: 'Each recipient counts. Beyond the limit messages wait and go out later.',
    waiting: 'Waiting',
    sender: 'Sender',
    senderLabel: 'Name before the @',
    domainLabel: 'Domain of the sender',
    senderHint:
      'For messages that name no address of this server. Their own address becomes the one that ' +
      'replies go to.',
    save: 'Save sender',
    saved: (address: string) => `Messages now come from ${address}.`,
    recordsTitle: 'DNS records',
    recordsAbout:
      'With these records, mailboxes trust messages from your domain. Without them messages may ' +
      'end up as spam.',
    noDomain:
      'This server has no domain of its own yet: messages come from its address with us, which ' +
      'is set up already. Add a domain in the Domain tab to send from it.',
    add: 'Add to DNS',
    adding: (domain: string) => `Add to DNS: missing records of ${domain}`,
    added: (domain: string) => `The records of ${domain} are in place.`,
    here: 'We manage the DNS of this domain: the records can be added for you.',
    elsewhere: 'The DNS of this domain is managed elsewhere. Copy the records and add them there.',
    ready: 'All records found',
    check: 'Check again',
    kinds: {
      spf: 'SPF: who may send',
      dkim: 'DKIM: signature',
      dmarc: 'DMARC: policy',
    },
    states: {
      found: 'Found',
      missing: 'Missing',
      differs: 'Different',
      alias: 'Not needed',
      unknown: 'No answer',
    },
    aliasHint: 'This name is an alias (CNAME) and can hold no SPF. The signature is enough.',
    differsHint: (found: string) => `Now: ${found}`,
    recordName: 'Name',
    recordValue: 'Value',
    logTitle: 'Messages of the last 30 days',
    logEmpty: 'This site has not sent any email yet.',
    more: 'Show more',
    noSubject: '(no subject)',
    from: (address: string) => `From ${address}`,
    insteadOf: (address: string) => `From our sender, in place of ${address}`,
    mailStates: {
      waiting: 'Waiting',
      held: 'On hold',
      sent: 'Sent',
      bounced: 'Refused',
      failed: 'Given up',
      refused: 'Not sent',
    },
    reasons: {
      hour_limit: 'The hourly limit is reached.',
      suspended: 'Sending is suspended.',
      off: 'Email was off.',
      header_unreadable: 'The message has no header that can be read.',
      line_too_long: 'A line of the message is longer than mail servers accept.',
      address: 'The address cannot receive email.',
      text_gone: 'The text of the message is no longer stored.',
      sender_lost: 'The sender is on a domain that is no longer this server’s.',
      trouble: 'Our mail server could not take it.',
      recipient_returned:
        'A message to this address came back, so nothing is sent to it for some days.',
    },
    returned: (time: string) => `Came back ${time}, after it was sent.`,
    allow: 'Allow again',
    allowing: (address: string) => `Allow again: messages to ${address}`,
    allowed: (address: string) => `Messages to ${address} are sent again.`,
    alreadyAllowed: 'Messages to this address are sent already.',
    said: (text: string) => `The mail server said: ${text}`,
    next: (time: string) => `Next try ${time}`,
    tries: (count: number) => plural(count, 'try', 'tries'),
  },
}
