import { realtime as api } from '../../contract/index.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import type { Clock } from '../platform/clock.ts'
import { encodeCursor, pageRequest } from '../platform/cursor.ts'
import type { Database } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { Page, type Http } from '../platform/http.ts'
import { authorise } from './channels.ts'
import type { SessionRevocations } from './session-revocations.ts'
import { listNotifications, markRead, unreadCount, type Titles } from './notifications.ts'
import type { AppKey } from './signature.ts'

const id = /^\d{1,18}$/
export function routes(
  http: Http,
  deps: {
    db: Database
    clock: Clock
    revocations: SessionRevocations
    app: AppKey
    complete: (payload: object) => object
    titles: Titles
  },
): void {
  const { db, clock, revocations, app } = deps

  http.read(api.listNotifications, async ({ customerId, query, language }) => {
    if (query.after !== undefined && !id.test(query.after))
      throw new Refusal('invalid_input', { fields: { after: ruleText('cursor', language) } })
    const after = query.after === undefined ? null : BigInt(query.after)
    const { data, unread, next } = await listNotifications(db, {
      customerId,
      ...pageRequest(query, language),
      after,
      language,
      complete: deps.complete,
      titles: deps.titles,
    })
    return new Page({ data, unread }, encodeCursor(next))
  })

  http.write(api.readNotifications, async ({ tx, customerId, body }) => {
    await markRead(tx, clock, customerId, {
      ids: body.ids?.map(BigInt),
      upTo: body.upTo === undefined ? undefined : BigInt(body.upTo),
    })
    return { unread: await unreadCount(tx, customerId) }
  })

  // Pusher's own answer has no envelope, and pusher-js sends a form.
  http.plain(api.authoriseChannel, async ({ tx, customerId, caller, body }) => {
    const of = { customerId, sessionId: caller?.sessionId }
    const asked = { socketId: body.socket_id, channel: body.channel_name }
    return { auth: await authorise(tx, { revocations, app }, of, asked) }
  })
}
