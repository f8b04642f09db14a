/** The inbox of all receivers: what the portal sent by mail and SMS, for tests and for people. */
import type { Database } from './database.ts'
import { sendAnswer, type LettersTo } from './answer.ts'
import { json, redirect, type Call, type Routes } from './http.ts'
import { escape, page, vietnamTime } from './page.ts'

export const inboxTable = `
  create table if not exists sandbox.messages (
    id bigint generated always as identity primary key,
    channel text not null check (channel in ('sms', 'mail')),
    receiver text not null,
    receiver_key text not null,
    text text not null,
    message_key text not null unique,
    at timestamptz not null default now()
  );
  alter table sandbox.messages add column if not exists raw bytea;
  alter table sandbox.messages add column if not exists sender text;
  alter table sandbox.messages add column if not exists reply_to text;
  create index if not exists messages_receiver on sandbox.messages (receiver_key, id desc)`

interface Message {
  readonly to: string
  readonly channel: 'sms' | 'mail'
  readonly text: string
  readonly at: string
  /** For a letter that can be answered: its number, and the address for the answer. */
  readonly id?: string
  readonly replyTo?: string
}

const limit = 200

/**
 * One spelling per receiver. Addresses are in lower case. Numbers are digits with the country code,
 * for 0912…, 84912…, +84912…, and ' 84912…' (a '+' that was not escaped in a query).
 */
export function receiverKey(receiver: string): string {
  const text = receiver.trim()
  if (text.includes('@')) return text.replaceAll(' ', '+').toLowerCase()
  const digits = text.replace(/\D/g, '').replace(/^00/, '')
  return digits.startsWith('0') ? `84${digits.slice(1)}` : digits
}

/** Stores a message. A repeated `key` is the same message; the result says whether it is new. */
export async function deliver(
  db: Database,
  message: {
    channel: 'sms' | 'mail'
    to: string
    text: string
    key: string
    /** A mail's raw text, and its envelope's sender. */
    raw?: Buffer
    from?: string
    replyTo?: string | null
  },
): Promise<boolean> {
  const key = receiverKey(message.to)
  const { rowCount } = await db.query(
    `insert into sandbox.messages
      (channel, receiver, receiver_key, text, message_key, raw, sender, reply_to)
      values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (message_key) do nothing`,
    [
      message.channel,
      message.channel === 'sms' ? `+${key}` : message.to,
      key,
      message.text.replaceAll('\0', ''),
      message.key,
      message.raw ?? null,
      message.from ?? null,
      message.replyTo ?? null,
    ],
  )
  return rowCount === 1
}

async function messages(db: Database, to: string | null): Promise<Message[]> {
  const key = to === null || to.trim() === '' ? null : receiverKey(to)
  const { rows } = await db.query<{
    id: string
    reply_to: string | null
    receiver: string
    channel: 'sms' | 'mail'
    text: string
    at: Date
  }>(
    `select id, reply_to, receiver, channel, text, at from sandbox.messages where $1::text is null
      or receiver_key = $1 order by id desc limit ${limit}`,
    [key],
  )
  return rows.map((row) => ({
    to: row.receiver,
    channel: row.channel,
    text: row.text,
    at: row.at.toISOString(),
    ...(row.reply_to !== null && { id: String(row.id), replyTo: row.reply_to }),
  }))
}

/** The newest mail to an address as received, with its envelope's sender on top (Return-Path). */
async function newestRaw(db: Database, to: string): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ raw: Buffer; sender: string | null }>(
    `select raw, sender from sandbox.messages where receiver_key = $1 and raw is not null
      order by id desc limit 1`,
    [receiverKey(to)],
  )
  const [row] = rows
  return row && Buffer.concat([Buffer.from(`Return-Path: <${row.sender ?? ''}>\r\n`), row.raw])
}

const answerLink = ({ id, replyTo }: Message, lettersTo: LettersTo | undefined): string =>
  replyTo === undefined || !lettersTo
    ? ''
    : `<p><a href="/inbox/answer?id=${id}">Answer · <span lang="vi">Trả lời</span></a></p>`

/** Escaped text with its web addresses as links. */
const linked = (text: string): string =>
  text
    .split(/(https?:\/\/[^\s<>"']+)/g)
    .map((part, at) =>
      at % 2 === 0
        ? escape(part)
        : `<a href="${escape(part)}" rel="noreferrer">${escape(part)}</a>`,
    )
    .join('')

/** Finds a letter that can be answered. */
async function answerable(db: Database, id: string | null) {
  if (id === null || !/^\d{1,18}$/.test(id)) return undefined
  const { rows } = await db.query<{ receiver: string; reply_to: string; text: string }>(
    `select receiver, reply_to, text from sandbox.messages
      where id = $1 and reply_to is not null`,
    [id],
  )
  return rows[0]
}

/** @param lettersTo where the portal receives letters; without it nothing can be answered */
export function inboxRoutes(db: Database, lettersTo?: LettersTo): Routes {
  return {
    'GET /inbox.json': async ({ query }: Call) => json(await messages(db, query.get('to'))),
    'GET /inbox.eml': async ({ query }: Call) => {
      const raw = await newestRaw(db, query.get('to') ?? '')
      return raw
        ? { status: 200, headers: { 'content-type': 'message/rfc822' }, body: raw }
        : json({ error: 'no mail' }, 404)
    },
    'GET /inbox/answer': async ({ query }: Call) => {
      const letter = await answerable(db, query.get('id'))
      if (!letter || !lettersTo) return json({ error: 'no letter to answer' }, 404)
      return page({
        title: 'Answer — sandbox',
        language: 'en',
        main: `<div class="flag">SANDBOX</div>
<main><h1>Answer <span class="soft" lang="vi">· Trả lời</span></h1>
<p class="soft">${escape(letter.receiver)} → ${escape(letter.reply_to)}</p>
<form method="post" action="/inbox/answer" class="card">
<input type="hidden" name="id" value="${escape(query.get('id') ?? '')}">
<textarea name="text" rows="8" required aria-label="Answer · Trả lời"></textarea>
<button class="main">Send · <span lang="vi">Gửi</span></button></form>
<ul class="messages"><li class="card"><pre>${linked(letter.text)}</pre></li></ul></main>`,
      })
    },
    'POST /inbox/answer': async ({ body }: Call) => {
      const form = new URLSearchParams(body.toString())
      const letter = await answerable(db, form.get('id'))
      if (!letter || !lettersTo) return json({ error: 'no letter to answer' }, 404)
      await sendAnswer(lettersTo, letter, form.get('text') ?? '')
      return redirect(`/inbox?to=${encodeURIComponent(letter.receiver)}`)
    },
    'GET /inbox': async ({ query }: Call) => {
      const to = query.get('to') ?? ''
      const list = await messages(db, to)
      const items = list.map(
        (
          message,
        ) => `<li class="card"><div class="top"><span class="to">${escape(message.to)}</span>
<span>${message.channel === 'sms' ? 'SMS' : 'E-mail'} · <time
datetime="${message.at}">${escape(vietnamTime(new Date(message.at)))}</time></span></div>
<pre>${linked(message.text)}</pre>${answerLink(message, lettersTo)}</li>`,
      )
      const shown =
        items.length === 0
          ? '<p class="card soft">Nothing yet. <span lang="vi">Chưa có tin nào.</span></p>'
          : `<ul class="messages">${items.join('\n')}</ul>`
      return page({
        title: 'Inbox — sandbox',
        language: 'en',
        refreshSeconds: 3,
        main: `<div class="flag">SANDBOX · nothing here is really sent · <span lang="vi">không có gì
  được gửi thật</span></div>
<main>
<header class="brand"><h1>Inbox <span class="soft" lang="vi">· Hộp thư</span></h1>
  <a href="/">Sandbox</a></header>
<p class="soft">Every SMS and e-mail that the portal sent, newest first. <span lang="vi">Mọi SMS và
  e-mail mà cổng đã gửi, mới nhất ở trên.</span></p>
<form class="search" method="get" action="/inbox">
  <input name="to" value="${escape(to)}"
  aria-label="Phone number or e-mail address · Số điện thoại hoặc e-mail"
  placeholder="0912 345 678, name@example.vn"><button class="main">Show</button></form>
<div data-fresh aria-live="polite">${shown}</div>
</main>`,
      })
    },
  }
}
