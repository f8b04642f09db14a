/**
 * Field messages: what is wrong with one field, in the customer's language. Server and screen use the same function,
 * so the screen says sooner exactly what the server would say.
 */
import type { Language } from './errors.ts'

/** Rules of ours, named in `z.refine(..., { error: '<key>' })`. The first two are portal.md's own sentences. */
const rules = {
  wordpress_password: {
    en: 'The password must have at least 8 characters, with letters, digits and a special character !',
    vi: 'Mật khẩu phải chứa ít nhất 8 kí tự bao gồm chữ , số và kí tự đặc biệt !',
  },
  disk_minimum: { en: 'The disk must be at least 10GB!', vi: 'Dung lượng ổ cứng tối thiếu là 10GB!' },
  disk_region_minimum: { en: 'This region needs a larger disk.', vi: 'Khu vực này cần ổ đĩa lớn hơn.' },
  disk_maximum: { en: 'The disk can be at most 200000 MB.', vi: 'Dung lượng ổ đĩa tối đa là 200000 MB.' },
  wordpress_user: {
    en: 'Use 1 to 60 letters, digits, spaces or _ . - @',
    vi: 'Dùng 1 đến 60 chữ cái không dấu, chữ số, dấu cách hoặc _ . - @',
  },
  containers_limit: {
    en: 'This data centre runs fewer containers per site.',
    vi: 'Trung tâm dữ liệu này chạy ít container hơn cho mỗi trang.',
  },
  containers_no_room: {
    en: 'This data centre has no room for that many containers at the moment.',
    vi: 'Trung tâm dữ liệu này hiện không đủ chỗ cho số container đó.',
  },
  server_name: {
    en: 'Use 3 to 42 lower-case letters, digits and single hyphens, beginning with a letter.',
    vi: 'Dùng 3 đến 42 chữ thường không dấu, chữ số và dấu gạch nối đơn, bắt đầu bằng chữ cái.',
  },
  server_name_taken: { en: 'This name is taken.', vi: 'Tên này đã có người dùng.' },
  unknown_region: { en: 'Choose a data centre from the list.', vi: 'Hãy chọn một trung tâm dữ liệu trong danh sách.' },
  unknown_plan: { en: 'Choose a plan from the list.', vi: 'Hãy chọn một gói trong danh sách.' },
  email: { en: 'Enter a valid email address.', vi: 'Nhập một địa chỉ email hợp lệ.' },
  phone: {
    en: 'Enter a phone number with its country code, such as +84912345678.',
    vi: 'Nhập số điện thoại, ví dụ 0912345678 hoặc +84912345678.',
  },
  password_length: { en: 'Use 8 to 128 characters.', vi: 'Dùng 8 đến 128 ký tự.' },
  password_common: { en: 'This password is too common. Choose another.', vi: 'Mật khẩu này quá phổ biến. Hãy chọn mật khẩu khác.' },
  password_wrong: { en: 'This is not your current password.', vi: 'Mật khẩu hiện tại chưa đúng.' },
  email_same: { en: 'This is your email address already.', vi: 'Đây đang là email của bạn.' },
  phone_same: { en: 'This is your phone number already.', vi: 'Đây đang là số điện thoại của bạn.' },
  time_zone: { en: 'Choose a time zone from the list.', vi: 'Hãy chọn một múi giờ trong danh sách.' },
  tax_code: { en: 'Use letters without accents, digits, spaces and . / -', vi: 'Dùng chữ cái không dấu, chữ số, dấu cách và . / -' },
  otp_form: { en: 'Enter the 6 digits of the code.', vi: 'Nhập 6 chữ số của mã.' },
  amount_positive: { en: 'Enter an amount above 0.', vi: 'Nhập số tiền lớn hơn 0.' },
  amount_range: { en: 'The amount is outside the limits.', vi: 'Số tiền nằm ngoài hạn mức.' },
  location: { en: 'Choose a place from the list.', vi: 'Hãy chọn một địa điểm trong danh sách.' },
  moment: {
    en: 'Use a date such as 2026-11-30, or a date and time such as 2026-11-30T08:00:00Z.',
    vi: 'Dùng ngày như 2026-11-30, hoặc ngày giờ như 2026-11-30T08:00:00Z.',
  },
  period_order: { en: 'The period ends before it begins.', vi: 'Khoảng thời gian kết thúc trước khi bắt đầu.' },
  domain_form: {
    en: 'Enter a domain of your own, such as shop.example.vn.',
    vi: 'Nhập một tên miền của bạn, ví dụ shop.example.vn.',
  },
  other_server: { en: 'This is the id of another server.', vi: 'Đây là mã của một máy chủ khác.' },
  domain_taken: { en: 'Another of your servers has this domain.', vi: 'Một máy chủ khác của bạn đang dùng tên miền này.' },
  cursor: { en: 'This cursor is not valid.', vi: 'Con trỏ trang không hợp lệ.' },
} as const satisfies Record<string, Record<Language, string>>

export type RuleKey = keyof typeof rules

/** The part of a zod issue that a message is made from. */
export interface Issue {
  readonly code?: string | undefined
  readonly message?: string | undefined
  readonly minimum?: number | bigint
  readonly maximum?: number | bigint
  readonly origin?: string
  readonly input?: unknown
  readonly values?: readonly unknown[]
}

const isRule = (key: string | undefined): key is RuleKey => key !== undefined && key in rules

/** The sentence of one rule. */
export const ruleText = (key: RuleKey, language: Language): string => rules[key][language]

/** One sentence for one issue; never the library's own English. */
export function fieldMessage(issue: Issue, language: Language): string {
  if (isRule(issue.message)) return rules[issue.message][language]
  const vi = language === 'vi'
  switch (issue.code) {
    case 'too_small':
      if (issue.origin === 'string') {
        if (issue.minimum === 1) return vi ? 'Vui lòng nhập trường này.' : 'Please fill this in.'
        return vi ? `Ít nhất ${issue.minimum} ký tự.` : `At least ${issue.minimum} characters.`
      }
      return vi ? `Ít nhất ${issue.minimum}.` : `At least ${issue.minimum}.`
    case 'too_big':
      if (issue.origin === 'string') return vi ? `Nhiều nhất ${issue.maximum} ký tự.` : `At most ${issue.maximum} characters.`
      return vi ? `Nhiều nhất ${issue.maximum}.` : `At most ${issue.maximum}.`
    case 'invalid_value':
      return vi ? `Chọn một trong: ${issue.values?.join(', ')}.` : `Choose one of: ${issue.values?.join(', ')}.`
    case 'unrecognized_keys':
      return vi ? 'Trường này không được chấp nhận.' : 'This field is not accepted.'
    case 'invalid_type':
      if (issue.input === undefined) return vi ? 'Vui lòng nhập trường này.' : 'Please fill this in.'
      return vi ? 'Giá trị không đúng kiểu.' : 'This has the wrong type.'
    default:
      return vi ? 'Giá trị không hợp lệ.' : 'This is not valid.'
  }
}
