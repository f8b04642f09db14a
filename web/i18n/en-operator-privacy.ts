import type { RequestKind } from '../../contract/data-requests.ts'
import type { ActName } from '../../contract/operator-acts.ts'
import type { DeskRequest } from '../../contract/operator-privacy.ts'

export const enPrivacyActs = {
  names: {
    'privacy.receive': 'Enter a request',
    'privacy.done': 'Mark as met',
    'privacy.refuse': 'Refuse request',
  } satisfies Partial<Record<ActName, string>>,
  explain: {
    'privacy.receive':
      'Its clock begins on the day on which it came. A customer gets an email that says by when ' +
      'it is answered; write to anybody else yourself.',
    'privacy.done': 'A customer gets an email with this text. Write to anybody else yourself.',
    'privacy.refuse': 'A customer gets an email with this text. Write to anybody else yourself.',
  },
  fields: {
    from: 'Who asks',
    fromHint:
      'The confirmed email of a customer, the id of one whom you have identified, or a name.',
    asked: 'What is asked',
    receivedOn: 'Came on',
    receivedOnHint: 'Empty: today.',
    toldWhy: 'What was done, or why not',
  },
}

/** Requests about personal data at the desk. */
export const enDeskPrivacy = {
  nav: 'Data requests',
  title: 'Requests about personal data',
  sub: 'Due soonest first, by the working days of Vietnam and never after 30 days.',
  show: 'Show',
  shows: { open: 'Open', decided: 'Decided' },
  empty: { open: 'No request is open.', decided: 'No request was decided yet.' },
  kinds: {
    access: 'Access',
    correction: 'Correction',
    objection: 'Objection',
    erasure: 'Erasure',
  } satisfies Record<RequestKind, string>,
  states: {
    open: 'Open',
    done: 'Met',
    refused: 'Refused',
    ended: 'Ended with the account',
  } satisfies Record<DeskRequest['state'], string>,
  overdue: 'Overdue',
  late: 'Answered late',
  due: (day: string) => `Due ${day}`,
  came: (day: string) => `came ${day}`,
  enteredBy: (name: string) => `entered by ${name}`,
  closing: 'closing the account',
  decided: (when: string, by: string) => `${when} by ${by}`,
}
