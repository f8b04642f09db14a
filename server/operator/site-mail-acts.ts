/** Acts on what sites send: suspended for what an operator knows, and resumed (decision 141). */
import { resumeMailOf, suspendMailOf } from '../wordpress/index.ts'
import type { ActNeeds, RegistryOf } from './acts.ts'

/** In the form of the sites' mail module. */
const depsOf = (needs: ActNeeds) => ({ ...needs, owner: needs.customerMail })

export const siteMailActs: RegistryOf<'mail'> = {
  'mail.suspend': {
    async run(tx, needs, _actor, { server, cause, note = null }) {
      const of = { server, cause, note }
      const { siteId, name, customerId } = await suspendMailOf(tx, depsOf(needs), of)
      return {
        subject: { kind: 'server', id: siteId },
        customerId,
        before: { name, mailSuspended: null },
        after: { name, mailSuspended: cause, note },
      }
    },
  },
  'mail.resume': {
    async run(tx, needs, _actor, { server }) {
      const { siteId, name, customerId, was } = await resumeMailOf(tx, depsOf(needs), server)
      return {
        subject: { kind: 'server', id: siteId },
        customerId,
        before: { name, mailSuspended: was },
        after: { name, mailSuspended: null },
      }
    },
  },
}
