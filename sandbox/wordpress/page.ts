/** The directory's page: the newest release of each, and the directory's behaviour. */
import { redirect, type Reply } from '../http.ts'
import { escape, page } from '../page.ts'
import { directoryModes, type DirectoryState } from './behaviour.ts'
import { releases } from './releases.ts'

const modeTexts: Record<DirectoryState['mode'], string> = {
  well: 'Answers · <span lang="vi">Hoạt động bình thường</span>',
  down: 'Does not answer · <span lang="vi">Không trả lời</span>',
  slow: 'Answers late · <span lang="vi">Trả lời chậm</span>',
  lies: 'Hands out other versions · <span lang="vi">Đưa nhầm phiên bản</span>',
  astray: 'Names another host · <span lang="vi">Chỉ sang máy chủ khác</span>',
}

const button = (slug: string, version: string, label: string, isNewest: boolean): string =>
  `<form method="post" action="/wordpress"><input type="hidden" name="slug" value="${slug}">
<button name="version" value="${version}"${isNewest ? ' class="main"' : ''}>${label}</button>
</form>`

function releaseSection(slug: string, newest: string | null): string {
  const all = releases.filter((one) => one.slug === slug)
  return `<section class="card"><h2>${escape(slug)}</h2>
<p class="soft">Press the one that is to be the newest.
<span lang="vi">Chọn bản mới nhất.</span></p>
<ul class="parts">${all
    .map(
      ({ kind, version, about }) =>
        `<li>${button(slug, version, `${escape(version)}`, version === newest)} ${about} ·
<a href="/wordpress/${kind}/${slug}.${version}.zip">zip</a></li>`,
    )
    .join('\n')}</ul></section>`
}

export function directoryPage(
  state: DirectoryState,
  core: { readonly is: string; readonly next: string } | undefined,
): Reply {
  const newest = state.newest['wordpress'] ?? null
  const coreSection = core
    ? `<section class="card"><h2>WordPress</h2><ul class="parts">
<li>${button('wordpress', '', escape(core.is), newest === null)} as sites have it ·
<span lang="vi">bản các trang đang dùng</span></li>
<li>${button('wordpress', core.next, escape(core.next), newest === core.next)} the same files under
another number · <span lang="vi">cùng nội dung, số phiên bản khác</span></li></ul></section>`
    : ''
  return page({
    title: 'Directory of WordPress — sandbox',
    language: 'en',
    main: `<div class="flag">SANDBOX · releases that nobody made ·
<span lang="vi">các bản phát hành giả lập</span></div><main>
<header class="brand"><h1>Directory of WordPress <span class="soft" lang="vi">· Thư mục
WordPress</span></h1><a href="/">Sandbox</a></header>
<section class="card"><form method="post" action="/wordpress">
${directoryModes
  .map(
    (mode) =>
      `<button name="mode" value="${mode}"${mode === state.mode ? ' class="main"' : ''}>` +
      `${modeTexts[mode]}</button>`,
  )
  .join('\n')}</form></section>
${coreSection}
${[...new Set(releases.map(({ slug }) => slug))]
  .map((slug) => releaseSection(slug, state.newest[slug] ?? null))
  .join('\n')}
</main>`,
  })
}

export const changedPage = (): Reply => redirect('/wordpress')
