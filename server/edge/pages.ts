// The pages that a visitor sees when a site cannot answer. Each is small, without scripts and
// without external resources.
import type { Language } from '../../contract/errors.ts'
import { acceptedLanguage } from '../platform/accept-language.ts'
import type { EdgeSite } from './host-table.ts'
import { wrongTriesSeconds } from './protection.ts'

export type EdgePage =
  | 'unknown'
  | 'starting'
  | 'suspended'
  | 'failed'
  | 'timeout'
  | 'denied'
  | 'password'
  | 'tries'
  | 'moving'
  | 'away'

/** What to show instead of the site, or null when it can be asked. */
export const pageFor = (site: EdgeSite): EdgePage | null => {
  if (site.state === 'running') return site.addresses.length > 0 ? null : 'starting'
  return site.state
}

const words: Record<
  EdgePage,
  { readonly status: number } & Record<Language, readonly [title: string, text: string]>
> = {
  unknown: {
    status: 404,
    en: [
      'There is no site here',
      'No website is hosted under this address. Check the spelling, or ask the owner whether ' +
        'it has moved.',
    ],
    vi: [
      'Không có trang web nào ở đây',
      'Không có trang web nào dùng địa chỉ này. Hãy kiểm tra lại địa chỉ, hoặc hỏi chủ trang ' +
        'xem trang đã chuyển đi chưa.',
    ],
  },
  starting: {
    status: 503,
    en: [
      'This site is starting',
      'It will be ready in a few seconds. This page reloads automatically.',
    ],
    vi: ['Trang web đang khởi động', 'Trang sẽ sẵn sàng sau vài giây. Trình duyệt sẽ tự tải lại.'],
  },
  suspended: {
    status: 503,
    en: [
      'This site is suspended',
      'Its content is kept. The owner can bring it back from the customer portal.',
    ],
    vi: [
      'Trang web đang tạm ngưng',
      'Nội dung vẫn được giữ nguyên. Chủ trang có thể khôi phục trong trang quản lý khách hàng.',
    ],
  },
  failed: {
    status: 502,
    en: [
      'This site did not answer',
      'Something went wrong on the way to it. Try again in a moment.',
    ],
    vi: [
      'Trang web không phản hồi',
      'Đã có lỗi khi kết nối đến trang. Vui lòng thử lại sau giây lát.',
    ],
  },
  timeout: {
    status: 504,
    en: ['This site takes too long', 'It did not answer in time. Try again in a moment.'],
    vi: ['Trang web phản hồi quá lâu', 'Trang không trả lời kịp. Vui lòng thử lại sau giây lát.'],
  },
  denied: {
    status: 403,
    en: [
      'This site does not let you in',
      'Its owner does not allow visits from your network. Ask the owner if that is a mistake.',
    ],
    vi: [
      'Bạn không thể truy cập trang web này',
      'Chủ trang đã chặn truy cập từ mạng của bạn. Hãy liên hệ chủ trang nếu đây là nhầm lẫn.',
    ],
  },
  password: {
    status: 401,
    en: [
      'This site asks for a password',
      'Reload the page and enter the user name and password that its owner gave you.',
    ],
    vi: [
      'Trang web này yêu cầu mật khẩu',
      'Hãy tải lại trang rồi nhập tên đăng nhập và mật khẩu mà chủ trang đã cung cấp.',
    ],
  },
  tries: {
    status: 429,
    en: ['Too many wrong passwords', 'Wait ten minutes, then try again.'],
    vi: ['Nhập sai mật khẩu quá nhiều lần', 'Vui lòng đợi mười phút rồi thử lại.'],
  },
  away: {
    status: 503,
    en: [
      'This site can only be read right now',
      'The machine that runs it has lost touch with its provider, and nothing was saved. Try ' +
        'again in a few minutes.',
    ],
    vi: [
      'Trang web hiện chỉ có thể xem',
      'Máy chạy trang này đang mất liên lạc với nhà cung cấp nên nội dung vừa gửi chưa được lưu. ' +
        'Vui lòng thử lại sau vài phút.',
    ],
  },
  moving: {
    status: 503,
    en: [
      'This site takes no changes right now',
      'It is being moved to another machine, and nothing was saved. Send it again in half a ' +
        'minute.',
    ],
    vi: [
      'Trang web tạm thời chưa nhận thay đổi',
      'Trang đang được chuyển sang máy khác nên nội dung vừa gửi chưa được lưu. Vui lòng gửi lại ' +
        'sau nửa phút.',
    ],
  },
}

/** Status, headers and body of a page. */
export function edgePage(
  page: EdgePage,
  accept: string | undefined,
): { readonly status: number; readonly headers: Record<string, string>; readonly body: string } {
  const language = acceptedLanguage(accept)
  const { status } = words[page]
  const [title, text] = words[page][language]
  const refresh = page === 'starting' ? '\n<meta http-equiv="refresh" content="2">' : ''
  const body = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">${refresh}
<title>${title}</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { display: grid; min-height: 100vh; margin: 0; place-items: center }
main { max-width: 32rem; padding: 2rem }
h1 { font-size: 1.5rem; margin: 0 0 .5rem }
p { margin: 0 }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>
</main>
</body>
</html>
`
  const headers: Record<string, string> = {
    'content-type': 'text/html; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    'content-language': language,
    vary: 'Accept-Language',
    'x-content-type-options': 'nosniff',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  }
  if (page === 'starting') headers['retry-after'] = '2'
  if (page === 'moving' || page === 'away') headers['retry-after'] = '30'
  if (page === 'tries') headers['retry-after'] = String(wrongTriesSeconds)
  // Browsers no longer show the realm; it separates the passwords that they remember.
  if (page === 'password') headers['www-authenticate'] = 'Basic realm="site", charset="UTF-8"'
  return { status, headers, body }
}
