/** The acts on orders, servers, jobs, letters and webhooks (decisions 91 and 114). */
import * as z from 'zod/mini'
import { needed, unneeded } from './operator-act.ts'
import { oneLine } from './text.ts'

const id = z.string().check(z.maxLength(100))

/** A step of dunning is put off by so many days from now at most. */
export const mostDaysPutOff = 30

export const workActs = {
  'work.hold_server': needed(
    'work.hold_server',
    'work',
    'Suspend a server by hand, whoever has paid for it',
    {
      server: id,
      /** The reason that the server's owner reads. */
      told: oneLine(3, 200),
    },
  ),
  'work.release_server': needed(
    'work.release_server',
    'work',
    'Release a server that was suspended by hand: it runs again, if it is paid for',
    { server: id },
  ),
  'work.put_off': needed(
    'work.put_off',
    'money',
    'Put the suspension of an unpaid server off to a day, or its deletion if it is suspended',
    {
      server: id,
      /** The step comes with the end of this day, in the customer's time zone. */
      until: z.iso.date(),
    },
  ),
  'work.retry_job': needed('work.retry_job', 'work', 'Start a job again that gave up', {
    job: id,
  }),
  'work.retry_jobs': needed(
    'work.retry_jobs',
    'work',
    'Start every job again that gave up, or every one of a queue',
    {
      /** The name of a queue; all queues if absent. */
      queue: z.optional(oneLine(1, 100)),
    },
  ),
  'work.retry_server': needed(
    'work.retry_server',
    'work',
    'Try now what is done to a server: charge, set up, restart, clean away or delete it',
    { server: id },
  ),
  'work.give_up_order': needed(
    'work.give_up_order',
    'work',
    'Give up an order that was not delivered: what was paid goes back into the wallet',
    {
      server: id,
      /** The reason that the customer reads. */
      told: oneLine(3, 200),
    },
  ),
  'letter.resend': unneeded(
    'letter.resend',
    'note',
    'Send a letter or SMS again, or try one now that waits',
    { letter: id },
  ),
  'webhook.replay': needed(
    'webhook.replay',
    'money',
    'Handle a webhook of a gateway again; what it says is posted once',
    {
      /** The webhook's number in the list. */
      notice: z.int().check(z.gte(1)),
    },
  ),
} as const
