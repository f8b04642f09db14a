/** Letters to the owner of an address: it is new, or it is no longer called. */
import type { Language } from '../../contract/errors.ts'

interface Told {
  readonly url: string
  readonly reason: 'failing' | 'gone'
  readonly link: string
}
const why = {
  en: {
    failing: 'every call of it has failed for five days',
    gone: 'it answered that it wants no more calls (status 410)',
  },
  vi: {
    failing: 'mọi lần gọi đều thất bại trong năm ngày qua',
    gone: 'địa chỉ trả lời rằng không nhận nữa (mã 410)',
  },
} as const
const texts = {
  en: {
    subject: 'We stopped calling your webhook',
    text: ({ url, reason, link }: Told) =>
      `We call your webhook no more, for ${why.en[reason]}:\n${url}\n` +
      'What happens from now on is not sent to it. Correct it, then switch it on again here; ' +
      `what was not delivered can be sent again from there:\n${link}`,
  },
  vi: {
    subject: 'Chúng tôi đã ngừng gọi webhook của bạn',
    text: ({ url, reason, link }: Told) =>
      `Chúng tôi ngừng gọi webhook của bạn vì ${why.vi[reason]}:\n${url}\n` +
      'Sự kiện từ bây giờ sẽ không được gửi tới đó. Hãy khắc phục rồi bật lại ở trang này; ' +
      `các sự kiện chưa gửi được có thể gửi lại tại đó:\n${link}`,
  },
} as const

export function disabledLetter(
  language: Language,
  told: Told,
): { readonly subject: string; readonly text: string } {
  const { subject, text } = texts[language]
  return { subject, text: text(told) }
}

/** The staff members' languages are unknown: the letter has both. */
export const disabledLetterToStaff = ({
  url,
  reason,
  link,
}: Told): { readonly subject: string; readonly text: string } => ({
  subject: 'We stopped calling an outgoing webhook · Đã ngừng gọi một webhook gửi đi',
  text:
    `We call this address of the provider no more, for ${why.en[reason]}:\n${url}\n` +
    'What happens from now on is not sent to it. Have it corrected, then resume it at the desk; ' +
    `what was not delivered can be sent again from there:\n${link}\n\n` +
    `Chúng tôi ngừng gọi địa chỉ này của nhà cung cấp vì ${why.vi[reason]}:\n${url}\n` +
    'Sự kiện từ bây giờ sẽ không được gửi tới đó. Hãy khắc phục rồi bật lại tại trang vận hành; ' +
    `các sự kiện chưa gửi được có thể gửi lại tại đó:\n${link}`,
})

/** To the owners: an intruder who adds an address would receive all events. */
export const addressLetterToStaff = (
  { url, link }: Address,
  by: string,
): { readonly subject: string; readonly text: string } => ({
  subject: 'A new outgoing webhook address · Địa chỉ webhook gửi đi mới',
  text:
    `${by} has events of all customers sent to this address from now on:\n${url}\n` +
    `If nobody of you meant this, remove it here, and look at the trail:\n${link}\n\n` +
    `Từ bây giờ, theo thiết lập của ${by}, sự kiện của mọi khách hàng được gửi tới địa chỉ này:\n` +
    `${url}\nNếu không ai trong các bạn chủ ý làm việc này, hãy xoá địa chỉ tại đây và xem nhật ` +
    `ký:\n${link}`,
})

interface Address {
  readonly url: string
  readonly link: string
}
const ofAddress = {
  en: {
    subject: 'A webhook address of your account is new',
    text: ({ url, link }: Address) =>
      `Events of your account are sent to this address from now on:\n${url}\n` +
      'Was this not you? Delete the webhook here, and change your password:\n' +
      link,
  },
  vi: {
    subject: 'Tài khoản của bạn có địa chỉ webhook mới',
    text: ({ url, link }: Address) =>
      `Từ bây giờ, sự kiện trong tài khoản của bạn được gửi tới địa chỉ này:\n${url}\n` +
      'Nếu không phải bạn, hãy xoá webhook tại đây và đổi mật khẩu:\n' +
      link,
  },
} as const

/** To the owner: an intruder at an open session could receive all events. */
export function addressLetter(
  language: Language,
  address: Address,
): { readonly subject: string; readonly text: string } {
  const { subject, text } = ofAddress[language]
  return { subject, text: text(address) }
}
