/** What the owner of a server reads that came up elsewhere after its machine was lost. */
import { inVietnam } from '../platform/vietnam-time.ts'

interface Told {
  readonly name: string
  /** Of when its content is. */
  readonly at: Date
  readonly link: string
}

/** 26/11/2026 14:05 */
function momentOf(at: Date): string {
  const [day = '', time = ''] = inVietnam(at).split('T')
  return `${day.split('-').toReversed().join('/')} ${time.slice(0, 5)}`
}

export const rescuedLetter = {
  subject: {
    en: ({ name }: Told) => `${name} runs again, with its content of a backup`,
    vi: ({ name }: Told) => `${name} đã hoạt động trở lại từ bản sao lưu`,
  },
  text: {
    en: ({ name, at, link }: Told) =>
      `The machine that ran your server ${name} failed. We brought the server up on another ` +
      `machine from its backup of ${momentOf(at)} (Vietnam time).\n` +
      'What was written after that, such as orders, comments, posts, uploads and changed ' +
      'passwords, is not there now. Name, domains, certificates, plan, sign-in and SFTP keys are ' +
      'as they were.\n' +
      'Please look at your site, and enter again what is missing; compare orders with the ' +
      'letters and payments that you got. If the failed machine returns, we keep what was on it ' +
      'for seven days: answer this letter if you need something of it.\n' +
      `Your backups: ${link}`,
    vi: ({ name, at, link }: Told) =>
      `Máy chủ vật lý đang chạy ${name} của bạn đã gặp sự cố. Chúng tôi đã khôi phục ${name} ` +
      `trên một máy khác từ bản sao lưu lúc ${momentOf(at)} (giờ Việt Nam).\n` +
      'Những gì được ghi sau thời điểm đó, như đơn hàng, bình luận, bài viết, tệp tải lên và ' +
      'mật khẩu mới đổi, hiện không còn. Tên, tên miền, chứng chỉ, gói dịch vụ, tài khoản đăng ' +
      'nhập và khoá SFTP vẫn giữ nguyên.\n' +
      'Vui lòng kiểm tra trang web và nhập lại phần còn thiếu; hãy đối chiếu đơn hàng với email ' +
      'và các khoản thanh toán bạn đã nhận. Nếu máy gặp sự cố hoạt động trở lại, chúng tôi giữ ' +
      'dữ liệu cũ trên đó trong bảy ngày: hãy trả lời thư này nếu bạn cần lấy lại.\n' +
      `Các bản sao lưu của bạn: ${link}`,
  },
} as const
