/** The registrar's page: register a name, set its name servers, release it. */
import type { Reply } from '../http.ts'
import { escape, page } from '../page.ts'
import type { RegisteredName } from './names.ts'

const flag =
  '<div class="flag">SANDBOX · a trial registry, no real domain is bought · ' +
  '<span lang="vi">nơi đăng ký thử nghiệm, không mua tên miền thật</span></div>'

const item = ({
  name,
  nameservers,
  ds,
}: RegisteredName): string => `<li class="card"><div class="top">
  <span class="to">${escape(name)}</span></div>
<pre>${[nameservers.length === 0 ? '–' : nameservers, ds.map((one) => `DS ${one}`)]
  .flat()
  .map(escape)
  .join('\n')}</pre>
<form method="post" action="/registry"><input type="hidden" name="name" value="${escape(name)}">
<button name="act" value="edit" class="main">Edit · <span lang="vi">Sửa</span></button>
<button name="act" value="drop">Give back · <span lang="vi">Trả lại</span></button></form></li>`

const none =
  '<p class="card soft">No name is registered. <span lang="vi">Chưa có tên miền nào.</span></p>'

export function registryPage(
  names: readonly RegisteredName[],
  filled: { readonly name: string; readonly nameservers: string; readonly ds: string },
  complaint = '',
): Reply {
  return page({
    title: 'Registry — sandbox',
    language: 'en',
    status: complaint === '' ? 200 : 422,
    main: `${flag}<main>
<header class="brand"><h1>Registry <span class="soft" lang="vi">· Nơi đăng ký tên miền</span></h1>
  <a href="/">Sandbox</a></header>
<section class="card"><h2>Register a name, or change its name servers · <span lang="vi">Đăng ký tên
  miền hoặc đổi máy chủ tên</span></h2>
${complaint === '' ? '' : `<p role="alert">${escape(complaint)}</p>`}
<form method="post" action="/registry">
<p><label class="soft small" for="name">Domain · <span lang="vi">Tên miền</span></label><input
  id="name" name="name" value="${escape(filled.name)}" placeholder="shop.vn" autocomplete="off"
  required></p>
<p><label class="soft small" for="nameservers">Name servers, with spaces between · <span
  lang="vi">Máy chủ tên, cách nhau bằng dấu cách</span></label><input id="nameservers"
  name="nameservers" value="${escape(filled.nameservers)}" autocomplete="off"></p>
<p><label class="soft small" for="ds">DS record (DNSSEC), may be empty · <span lang="vi">Bản ghi DS,
  có thể để trống</span></label><input id="ds" name="ds" value="${escape(filled.ds)}"
  autocomplete="off"></p>
<button class="main" name="act" value="save">Save · <span lang="vi">Lưu</span></button>
</form></section>
${names.length === 0 ? none : `<ul class="messages">${names.map(item).join('\n')}</ul>`}
</main>`,
  })
}
