/** Letters to the owner of a server that came up elsewhere after its machine was lost. */
import type { Language } from '../../contract/errors.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { inVietnam } from '../platform/vietnam-time.ts'

/** What is needed to write to the owner of a server. */
export interface OwnersMail {
  readonly portalUrl: string
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  readonly owner: (
    db: Queryable,
    customerId: string,
  ) => Promise<{ readonly email: string; readonly language: Language }>
}

interface Told {
  readonly name: string
  /**
   * The moment of its content. For a server that went back: what was written after this moment is
   * lost.
   */
  readonly at: Date
  /** The content comes from the mirror, not from a backup. */
  readonly isMirror?: boolean
  readonly link: string
}

/** Formats a moment as 26/11/2026 14:05, or 26/11/2026 14:05:20 to the second. */
function momentOf(at: Date, toTheSecond = false): string {
  const [day = '', time = ''] = inVietnam(at).split('T')
  return `${day.split('-').toReversed().join('/')} ${time.slice(0, toTheSecond ? 8 : 5)}`
}

export const rescuedLetter = {
  subject: {
    en: ({ name, isMirror }: Told) =>
      `${name} runs again, from ${isMirror ? 'its copy on a second machine' : 'a backup'}`,
    vi: ({ name, isMirror }: Told) =>
      `${name} đã hoạt động trở lại từ ${isMirror ? 'bản sao trên máy thứ hai' : 'bản sao lưu'}`,
  },
  text: {
    en: ({ name, at, isMirror, link }: Told) =>
      `The machine that ran your server ${name} failed. We brought the server up on another ` +
      `machine ${isMirror ? 'that had a copy of all until' : 'from its backup of'} ` +
      `${momentOf(at, isMirror)} (Vietnam time).\n` +
      'What was written after that, such as orders, comments, posts, uploads and changed ' +
      'passwords, is not there now. Name, domains, certificates, plan, sign-in and SFTP keys are ' +
      'as they were. If one of your domains leads straight to the address of the failed machine, ' +
      'write to us: its record has to name another address.\n' +
      'Please look at your site, and enter again what is missing; compare orders with the ' +
      'letters and payments that you got. If the failed machine returns, we keep what was on it ' +
      `for ${isMirror ? 'a day' : 'seven days'}: write to us if you need something of it.\n` +
      `Your backups: ${link}`,
    vi: ({ name, at, isMirror, link }: Told) =>
      `Máy chủ vật lý đang chạy ${name} của bạn đã gặp sự cố. Chúng tôi đã khôi phục ${name} ` +
      `trên một máy khác từ ${isMirror ? 'bản sao đồng bộ' : 'bản sao lưu'} lúc ` +
      `${momentOf(at, isMirror)} (giờ Việt Nam).\n` +
      'Những gì được ghi sau thời điểm đó, như đơn hàng, bình luận, bài viết, tệp tải lên và ' +
      'mật khẩu mới đổi, hiện không còn. Tên, tên miền, chứng chỉ, gói dịch vụ, tài khoản đăng ' +
      'nhập và khoá SFTP vẫn giữ nguyên. Nếu tên miền nào của bạn trỏ thẳng tới địa chỉ của máy ' +
      'gặp sự cố, hãy liên hệ với chúng tôi: bản ghi đó cần trỏ sang địa chỉ khác.\n' +
      'Vui lòng kiểm tra trang web và nhập lại phần còn thiếu; hãy đối chiếu đơn hàng với email ' +
      'và các khoản thanh toán bạn đã nhận. Nếu máy gặp sự cố hoạt động trở lại, chúng tôi giữ ' +
      `dữ liệu cũ trên đó trong ${isMirror ? 'một' : 'bảy'} ngày: hãy liên hệ nếu bạn cần ` +
      'lấy lại.\n' +
      `Các bản sao lưu của bạn: ${link}`,
  },
} as const

/** Sent when the original took its place again after the machine was back. */
export const undoneLetter = {
  subject: {
    en: ({ name }: Told) => `${name} has its content of before the failure again`,
    vi: ({ name }: Told) => `${name} đã có lại nội dung trước sự cố`,
  },
  text: {
    en: ({ name, at, link }: Told) =>
      `The machine that failed is back. We put what was on it in the place of the copy: your ` +
      `server ${name} has its content of before the failure again.\n` +
      `What was written since ${momentOf(at)} (Vietnam time), while the server ran from the ` +
      'copy, such as orders, comments, posts, uploads and changed passwords, is not there ' +
      'now.\n' +
      'Please look at your site, and enter again what is missing; compare orders with the ' +
      'letters and payments that you got.\n' +
      `Your backups: ${link}`,
    vi: ({ name, at, link }: Told) =>
      'Máy gặp sự cố đã hoạt động trở lại. Chúng tôi đã dùng lại dữ liệu trên máy đó thay cho ' +
      `bản sao: ${name} của bạn đã có lại nội dung trước sự cố.\n` +
      `Những gì được ghi từ ${momentOf(at)} (giờ Việt Nam), trong lúc máy chủ chạy từ bản ` +
      'sao, như đơn hàng, bình luận, bài viết, tệp tải lên và mật khẩu mới đổi, hiện không còn.\n' +
      'Vui lòng kiểm tra trang web và nhập lại phần còn thiếu; hãy đối chiếu đơn hàng với email ' +
      'và các khoản thanh toán bạn đã nhận.\n' +
      `Các bản sao lưu của bạn: ${link}`,
  },
} as const
