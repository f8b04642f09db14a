/** Acts on the operator's own outgoing webhooks (decision 131). */
import type { OperatorWebhook } from '../../contract/operator-webhooks.ts'
import type { RegistryOf } from './acts.ts'

const about = ({ id }: Pick<OperatorWebhook, 'id'>) => ({
  subject: { kind: 'outgoing_webhook', id },
  customerId: null,
})
const kept = ({ url, events, disabled }: OperatorWebhook) => {
  return { url, events, off: disabled?.reason ?? null }
}

export const outgoingWebhookActs: RegistryOf<'outgoing_webhook'> = {
  'outgoing_webhook.add': {
    async run(tx, { outgoing }, { name: by }, { url, events }) {
      const { webhook, secret } = await outgoing.add(tx, { url, events, by })
      return {
        ...about(webhook),
        before: null,
        after: { id: webhook.id, ...kept(webhook) },
        secret,
      }
    },
  },
  'outgoing_webhook.change': {
    async run(tx, { outgoing }, { name: by }, { webhook: id, url, events }) {
      const { before, after } = await outgoing.change(tx, { id, url, events, by })
      return { ...about(after), before: kept(before), after: kept(after) }
    },
  },
  'outgoing_webhook.renew_secret': {
    async run(tx, { outgoing }, _actor, { webhook: id }) {
      const { webhook, secret } = await outgoing.renewSecret(tx, id)
      const { url, earlierSecretUntil } = webhook
      return { ...about(webhook), before: { url }, after: { url, earlierSecretUntil }, secret }
    },
  },
  'outgoing_webhook.remove': {
    async run(tx, { outgoing }, _actor, { webhook: id }) {
      const before = await outgoing.remove(tx, id)
      return { ...about(before), before: kept(before), after: null }
    },
  },
  'outgoing_webhook.pause': {
    async run(tx, { outgoing }, _actor, { webhook: id }) {
      const { before, after } = await outgoing.setCalled(tx, id, false)
      return { ...about(after), before: kept(before), after: kept(after) }
    },
  },
  'outgoing_webhook.resume': {
    async run(tx, { outgoing }, _actor, { webhook: id }) {
      const { before, after } = await outgoing.setCalled(tx, id, true)
      return { ...about(after), before: kept(before), after: kept(after) }
    },
  },
  'outgoing_webhook.test': {
    async run(tx, { outgoing }, _actor, { webhook: id }) {
      const { webhook, delivery } = await outgoing.test(tx, id)
      return { ...about(webhook), before: null, after: { url: webhook.url, delivery } }
    },
  },
  'outgoing_webhook.resend': {
    async run(tx, { outgoing }, _actor, { webhook: id, delivery }) {
      const { webhook, event } = await outgoing.resend(tx, id, delivery)
      return { ...about(webhook), before: null, after: { url: webhook.url, delivery, event } }
    },
  },
  'outgoing_webhook.resend_failed': {
    async run(tx, { outgoing }, _actor, { webhook: id, since }) {
      const { webhook, sent, isMore } = await outgoing.resendFailed(tx, id, new Date(since))
      return { ...about(webhook), before: null, after: { url: webhook.url, sent, isMore } }
    },
  },
}
