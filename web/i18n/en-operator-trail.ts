type Labels = Readonly<Record<string, string>>

/** What stands in the trail as a code, by the name of the fact and the code. */
export const enTrailCodes: Readonly<Record<string, Labels>> = {
  job: { given_up: 'gave up', waiting: 'waiting' },
  mailSuspended: { bounces: 'bounces', complaint: 'a complaint', operator: 'our decision' },
  regions: { all: 'all' },
  nodeState: { active: 'active', draining: 'without new servers' },
  state: {
    open: 'open',
    answered: 'answered',
    closed: 'closed',
    done: 'met',
    refused: 'refused',
    needs_evidence: 'needs evidence',
    under_review: 'under review',
    provisioning: 'being set up',
    pending_payment: 'not paid yet',
    running: 'running',
    suspended: 'suspended',
    failed: 'given up',
    given_up: 'given up',
    waiting: 'waiting',
    again: 'sent again',
  },
  kind: {
    announcement: 'announcement',
    incident: 'incident',
    maintenance: 'maintenance',
    access: 'access',
    correction: 'correction',
    objection: 'objection',
    erasure: 'erasure',
    mail: 'email',
    sms: 'SMS',
  },
}
