/** The authorities' page: roots, issued certificates, and behaviour. */
import { X509Certificate } from 'node:crypto'
import { redirect, type Reply } from '../http.ts'
import { escape, page, vietnamTime } from '../page.ts'
import { modes, type Behaviour } from './behaviour.ts'

export interface Shown {
  /** The authority's part of the address. */
  readonly id: string
  readonly name: string
  readonly behaviour: Behaviour
  readonly issued: readonly {
    readonly id: string
    readonly names: readonly string[]
    readonly at: Date
    readonly chain: string
    readonly revoked: boolean
  }[]
}

const flag =
  '<div class="flag">SANDBOX · nobody trusts these certificates unless told to · ' +
  '<span lang="vi">không trình duyệt nào tin các chứng chỉ này nếu chưa được cài đặt</span></div>'

const modeTexts: Record<Behaviour['mode'], string> = {
  well: 'Issues · <span lang="vi">Cấp bình thường</span>',
  down: 'Does not answer · <span lang="vi">Không trả lời</span>',
  slow: 'Answers late · <span lang="vi">Trả lời chậm</span>',
  refuses: 'Refuses · <span lang="vi">Từ chối</span>',
  stuck: 'Never finishes · <span lang="vi">Không bao giờ xong</span>',
}

const shownAtOnce = 20

function certificateItem(id: string, one: Shown['issued'][number]): string {
  const until = new X509Certificate(one.chain).validTo
  const revoke = one.revoked
    ? '<span class="soft">Revoked · <span lang="vi">Đã thu hồi</span></span>'
    : `<form method="post" action="/acme"><input type="hidden" name="authority" value="${id}">
<input type="hidden" name="certificate" value="${escape(one.id)}">
<button name="act" value="revoke">Revoke · <span lang="vi">Thu hồi</span></button></form>`
  return `<li class="card"><div class="top"><span class="to">${one.names
    .map(escape)
    .join(', ')}</span><span class="soft">${vietnamTime(one.at)}</span></div>
<p class="soft small">until · <span lang="vi">đến</span> ${escape(until)}</p>${revoke}</li>`
}

const section = ({ id, name, behaviour, issued }: Shown): string => `<section class="card">
<h2>${escape(name)}</h2>
<p><code>/acme/${id}/directory</code> · <a href="/acme/${id}/root.pem">root.pem</a></p>
<form method="post" action="/acme"><input type="hidden" name="authority" value="${id}">
${modes
  .map(
    (mode) =>
      `<button name="mode" value="${mode}"${mode === behaviour.mode ? ' class="main"' : ''}>` +
      `${modeTexts[mode]}</button>`,
  )
  .join('\n')}</form>
${
  issued.length === 0
    ? '<p class="soft">No certificate yet. <span lang="vi">Chưa có chứng chỉ nào.</span></p>'
    : `<ul class="messages">${issued
        .slice(0, shownAtOnce)
        .map((one) => certificateItem(id, one))
        .join('\n')}</ul>`
}</section>`

export const acmePage = (authorities: readonly Shown[]): Reply =>
  page({
    title: 'Certificate authorities — sandbox',
    language: 'en',
    main: `${flag}<main>
<header class="brand"><h1>Certificate authorities <span class="soft" lang="vi">· Nơi cấp chứng
  chỉ</span></h1><a href="/">Sandbox</a></header>
${authorities.map(section).join('\n')}
</main>`,
  })

export const changed = (): Reply => redirect('/acme')
