import * as z from 'zod/mini'
import { realtime as api } from '../../contract/index.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import type { Clock } from '../platform/clock.ts'
import { decodeCursor, encodeCursor } from '../platform/cursor.ts'
import type { Database } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { Page, type Http } from '../platform/http.ts'
import type { SessionRevocations } from './session-revocations.ts'
import type { Hub } from './hub.ts'
import { listNotifications, markRead, unreadCount, type Titles } from './notifications.ts'
import { apiFault, channelAuth, type AppKey } from './signature.ts'

const id = /^\d{1,18}$/
/** Pusher's own limit for the data of one event. */
const maxEventBytes = 10_240

const Trigger = z.object({
  name: z.string().check(z.maxLength(200)),
  data: z.string(),
  channel: z.optional(z.string()),
  channels: z.optional(z.array(z.string()).check(z.maxLength(100))),
  socket_id: z.optional(z.string()),
})
const Batch = z.object({ batch: z.array(Trigger).check(z.maxLength(10)) })
type Trigger = z.output<typeof Trigger>

export function routes(
  http: Http,
  deps: {
    db: Database
    clock: Clock
    hub: Hub
    revocations: SessionRevocations
    app: AppKey
    complete: (payload: object) => object
    titles: Titles
  },
): void {
  const { db, clock, hub, revocations: endings, app } = deps

  http.read(api.listNotifications, async ({ customerId, query, language }) => {
    if (query.after !== undefined && !id.test(query.after))
      throw new Refusal('invalid_input', { fields: { after: ruleText('cursor', language) } })
    const before = decodeCursor(query.cursor, language)
    const after = query.after === undefined ? null : BigInt(query.after)
    const { data, unread, next } = await listNotifications(db, {
      customerId,
      limit: query.limit ?? 50,
      before,
      after,
      language,
      complete: deps.complete,
      titles: deps.titles,
    })
    return new Page({ data, unread }, encodeCursor(next))
  })

  http.write(api.readNotifications, async ({ tx, customerId, body }) => {
    await markRead(tx, clock, customerId, body.ids?.filter((text) => id.test(text)).map(BigInt))
    return { unread: await unreadCount(tx, customerId) }
  })

  // Pusher's own answer has no envelope, and pusher-js sends a form.
  http.plain(api.authoriseChannel, async ({ tx, customerId, caller, body }) => {
    if (body.channel_name !== `private-${customerId}`) throw new Refusal('forbidden')
    if (!caller || !(await endings.grant(tx, caller.sessionId, body.socket_id)))
      throw new Refusal('unauthenticated')
    return { auth: channelAuth(app, body.socket_id, body.channel_name) }
  })

  // The protocol's HTTP API, so that any Pusher server library can publish: signed, and spoken word
  // for word.
  http.server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    scope.addHook('preHandler', async (request, reply) => {
      const { app: named } = request.params as { app: string }
      if (named !== app.id) return reply.code(404).send({ error: 'unknown app' })
      const url = new URL(request.url, 'http://portal')
      const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0)
      const fault = apiFault(
        app,
        { method: request.method, path: url.pathname, query: url.searchParams, body },
        clock.now().getTime() / 1000,
      )
      if (fault !== undefined) return reply.code(401).send({ error: fault })
      return undefined
    })
    const publish = (events: Trigger[]): { status: number; body: object } => {
      for (const event of events) {
        if (Buffer.byteLength(event.data) > maxEventBytes)
          return {
            status: 413,
            body: {
              error:
                `The data content of this event exceeds the allowed maximum (${maxEventBytes} ` +
                'bytes)',
            },
          }
      }
      for (const event of events)
        for (const channel of event.channels ?? [event.channel ?? ''])
          hub.publish(channel, event.name, event.data, event.socket_id)
      return { status: 200, body: {} }
    }
    const parse = <S extends z.ZodMiniType>(schema: S, body: unknown): z.output<S> | undefined => {
      try {
        return schema.safeParse(JSON.parse(String(body))).data
      } catch {
        return undefined
      }
    }
    scope.post('/apps/:app/events', async (request, reply) => {
      const event = parse(Trigger, request.body)
      const answer = event
        ? publish([event])
        : { status: 400, body: { error: 'name, data and channels are required' } }
      return reply.code(answer.status).send(answer.body)
    })
    scope.post('/apps/:app/batch_events', async (request, reply) => {
      const batch = parse(Batch, request.body)?.batch
      const answer = batch
        ? publish(batch)
        : { status: 400, body: { error: 'a batch of at most 10 events is required' } }
      return reply.code(answer.status).send(answer.body)
    })
    scope.get('/apps/:app/channels', async () => ({
      channels: Object.fromEntries([...hub.occupied().keys()].map((name) => [name, {}])),
    }))
    scope.get('/apps/:app/channels/:channel', async (request) => {
      const { channel } = request.params as { channel: string }
      const count = hub.occupied().get(channel)?.size ?? 0
      return { occupied: count > 0, subscription_count: count }
    })
  })
}
