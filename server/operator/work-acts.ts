/** Work that needs a person: servers, work on servers, jobs. */
import type * as z from 'zod/mini'
import type { work } from '../../contract/operator-desk.ts'
import { customerOfRecipient } from '../auth/index.ts'
import type { Queryable } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import { givenUpByQueue, givenUpJobs, queueCounts, startAgain } from '../platform/job-inspection.ts'
import { customerOfPayment, replayNotice } from '../payments/index.ts'
import {
  cancellable,
  downSites,
  giveUpOrder,
  holdServer,
  orderOf,
  releaseServer,
  retryServer,
  stuckWork,
} from '../wordpress/index.ts'
import type { RegistryOf } from './acts.ts'
import { isAbove } from './second-member.ts'
import { orderGivenUp, serverHeld, serverReleased } from './letters.ts'

const shownAtOnce = 100
const noneGaveUp: Sentence = {
  en: 'No such job gave up.',
  vi: 'Không có tác vụ nào như vậy đã thất bại.',
}

export async function workOf(db: Queryable): Promise<z.output<typeof work.result>> {
  const [down, stuck, givenUp, counts, failed] = await Promise.all([
    downSites(db),
    stuckWork(db),
    givenUpJobs(db, { limit: shownAtOnce }),
    queueCounts(db),
    givenUpByQueue(db),
  ])
  return {
    down: down.slice(0, shownAtOnce).map(({ id, name, customerEmail, since, reason }) => ({
      id,
      name,
      email: customerEmail,
      since: since.toISOString(),
      why: reason,
    })),
    stuck: stuck.slice(0, shownAtOnce).map((one) => ({
      id: one.siteId,
      name: one.name,
      email: one.customerEmail,
      work: one.work,
      since: one.since?.toISOString() ?? null,
      attempts: one.attempts,
      why: one.reason,
    })),
    givenUp: givenUp.map(({ id, queue, givenUpAt, attempts, reason }) => ({
      id,
      queue,
      at: givenUpAt.toISOString(),
      attempts,
      why: reason,
    })),
    queues: counts
      .map(({ queue, ready, deferred, running }) => ({
        queue,
        ready,
        later: deferred,
        running,
        givenUp: failed.get(queue) ?? 0,
      }))
      .filter((one) => one.ready + one.later + one.running + one.givenUp > 0),
  }
}

export const workActs: RegistryOf<'work'> & RegistryOf<'letter'> & RegistryOf<'webhook'> = {
  'work.retry_server': {
    async run(tx, { jobs }, _actor, { server }) {
      const { customerId, name, before } = await retryServer(tx, { jobs }, server)
      return {
        subject: { kind: 'server', id: server },
        customerId,
        before: { name, state: before },
        after: { name, tried: true },
      }
    },
  },
  'work.give_up_order': {
    customer: async (tx, { server }) => (await orderOf(tx, server))?.customerId ?? null,
    async needsSecond(tx, needs, { server }) {
      const order = await orderOf(tx, server)
      if (!order) throw new Refusal('not_found')
      return isAbove(needs, order.currency, order.paid)
    },
    async run(tx, { jobs, customerMail, mail }, _actor, { server, told }) {
      const { customerId, name, before } = await giveUpOrder(tx, { jobs }, server, told)
      const order = await orderOf(tx, server)
      const { email, language } = await customerMail(tx, customerId)
      const paid = order?.paid ?? 0n
      const { subject, text } = orderGivenUp[language](name, told, paid > 0n)
      await mail(tx, email, subject, text)
      return {
        subject: { kind: 'server', id: server },
        customerId,
        before: { name, state: before },
        after: { name, told, amount: Number(paid), currency: order?.currency ?? null },
      }
    },
  },
  'letter.resend': {
    async run(tx, { again }, _actor, { letter }) {
      const { state, id, to, channel } = await again(tx, letter)
      return {
        subject: { kind: 'letter', id: letter },
        customerId: await customerOfRecipient(tx, to),
        // Its receiver and title name a person.
        before: { kind: channel },
        after: { letter: id, state },
      }
    },
  },
  'webhook.replay': {
    async run(tx, needs, _actor, { notice }) {
      const { driver, outcome, paymentId } = await replayNotice(tx, needs, notice)
      return {
        subject: { kind: 'webhook', id: String(notice) },
        customerId: paymentId === null ? null : await customerOfPayment(tx, { id: paymentId }),
        before: { gateway: driver, outcome },
        after: { waiting: true },
      }
    },
  },
  'work.hold_server': {
    async run(tx, { clock, jobs, customerMail, answerable }, _actor, { server, told }) {
      const { customerId, name } = await holdServer(tx, { clock, jobs }, server, told)
      const { email: to, language } = await customerMail(tx, customerId)
      const about = { kind: 'server', id: server } as const
      await answerable(tx, { to, language, about, ...serverHeld[language](name, told) })
      return {
        subject: { kind: 'server', id: server },
        customerId,
        before: { name, held: false },
        after: { name, held: true, told },
      }
    },
  },
  'work.release_server': {
    async run(tx, { jobs, customerMail, mail }, _actor, { server }) {
      const { customerId, name } = await releaseServer(tx, { jobs }, server)
      const { email, language } = await customerMail(tx, customerId)
      const { subject, text } = serverReleased[language](name)
      await mail(tx, email, subject, text)
      return {
        subject: { kind: 'server', id: server },
        customerId,
        before: { name, held: true },
        after: { name, held: false },
      }
    },
  },
  'work.put_off': {
    customer: async (tx, { server }) => (await cancellable(tx, server)).customerId,
    async run(tx, { subscriptions }, _actor, { server, until }) {
      const { customerId, name, subscriptionId } = await cancellable(tx, server)
      const { before, after } = await subscriptions.putOff(tx, subscriptionId, until)
      return {
        subject: { kind: 'server', id: server },
        customerId,
        before: { name, ...before },
        after: { name, ...after },
      }
    },
  },
  'work.retry_job': {
    async run(tx, _needs, _actor, { job }) {
      // If two members try at once, only one starts it.
      if ((await startAgain(tx, { ids: [job] })) === 0) throw new Refusal('not_found')
      return {
        subject: { kind: 'job', id: job },
        before: { job: 'given_up' },
        after: { job: 'waiting' },
      }
    },
  },
  'work.retry_jobs': {
    async run(tx, _needs, _actor, { queue }) {
      const jobs = await startAgain(tx, queue === undefined ? { all: true } : { queue })
      if (jobs === 0) throw new Refusal('not_found', { fields: { queue: noneGaveUp } })
      return {
        subject: { kind: 'queue', id: queue ?? 'all' },
        before: { job: 'given_up', jobs },
        after: { job: 'waiting', jobs },
      }
    },
  },
}
