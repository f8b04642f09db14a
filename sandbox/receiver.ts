/**
 * A customer's program that receives the portal's webhooks: it stores them, and answers as
 * requested (`?status=500`).
 */
import type { Database } from './database.ts'
import { json, type Call, type Routes } from './http.ts'
import { escape, page, vietnamTime } from './page.ts'

export const receiverTable = `
  create table if not exists sandbox.hook_calls (
    id bigint generated always as identity primary key,
    name text not null,
    headers jsonb not null,
    body text not null,
    status int not null,
    at timestamptz not null default now()
  )`

interface HookCall {
  readonly name: string
  /** The headers of the signature. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly status: number
  readonly at: string
}

const limit = 100

async function calls(db: Database, name: string | null): Promise<HookCall[]> {
  const { rows } = await db.query<Omit<HookCall, 'at'> & { at: Date }>(
    `select name, headers, body, status, at from sandbox.hook_calls
      where $1::text is null or name = $1 order by id desc limit ${limit}`,
    [name],
  )
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }))
}

export function receiverRoutes(db: Database): Routes {
  return {
    'POST /hooks/:name': async ({ params, query, headers, body }: Call) => {
      const wished = Number(query.get('status') ?? 200)
      const status = Number.isInteger(wished) && wished >= 200 && wished <= 599 ? wished : 200
      const kept = Object.fromEntries(
        Object.entries(headers).filter(([header]) => header.startsWith('webhook-')),
      )
      await db.query(
        `insert into sandbox.hook_calls (name, headers, body, status) values ($1, $2, $3, $4)`,
        [
          (params['name'] ?? '').slice(0, 60),
          JSON.stringify(kept),
          body.toString('utf8').replaceAll('\0', ''),
          status,
        ],
      )
      return json({ received: status < 300 }, status)
    },
    'GET /hooks.json': async ({ query }: Call) => json(await calls(db, query.get('name'))),
    'GET /hooks': async () => {
      const list = await calls(db, null)
      const items = list.map(
        ({ name, headers, body, status, at }) => `<li class="card"><div class="top"><span
class="to">/hooks/${escape(name)}</span><span>${status} · <time
datetime="${at}">${escape(vietnamTime(new Date(at)))}</time></span></div>
<pre>${escape(
          Object.entries(headers)
            .map(([header, value]) => `${header}: ${value}`)
            .join('\n'),
        )}

${escape(body)}</pre></li>`,
      )
      const none = `<p class="soft">Nothing yet. · <span lang="vi">Chưa có gì.</span></p>`
      return page({
        title: 'Webhooks',
        language: 'en',
        refreshSeconds: 3,
        main: `<main>
<h1>Webhooks · <span lang="vi">webhook của khách hàng</span></h1>
<p class="soft">Give the portal the address <code>/hooks/any-name</code> of this sandbox;
<code>?status=500</code> has it fail.</p>
<ul class="parts">${items.length === 0 ? none : items.join('\n')}</ul>
</main>`,
      })
    },
  }
}
