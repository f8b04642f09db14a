/**
 * Sentences about fields that only the server can say: what is taken, unknown, or not allowed now.
 * No screen loads them.
 */
import type { Language } from './errors.ts'
import { ruleText as formRuleText, type RuleKey as FormRuleKey } from './sentences.ts'

const rules = {
  disk_region_minimum: {
    en: 'This region needs a larger disk.',
    vi: 'Khu vực này cần ổ đĩa lớn hơn.',
  },
  containers_limit: {
    en: 'This data centre runs fewer containers per site.',
    vi: 'Trung tâm dữ liệu này chạy ít container hơn cho mỗi trang.',
  },
  containers_no_room: {
    en: 'This data centre has no room for that many containers at the moment.',
    vi: 'Trung tâm dữ liệu này hiện không đủ chỗ cho số container đó.',
  },
  server_name_taken: { en: 'This name is taken.', vi: 'Tên này đã có người dùng.' },
  region_unavailable: {
    en: 'This data centre takes no new servers at the moment.',
    vi: 'Trung tâm dữ liệu này hiện không nhận máy chủ mới.',
  },
  unknown_region: {
    en: 'Choose a data centre from the list.',
    vi: 'Hãy chọn một trung tâm dữ liệu trong danh sách.',
  },
  unknown_plan: { en: 'Choose a plan from the list.', vi: 'Hãy chọn một gói trong danh sách.' },
  password_common: {
    en: 'This password is too common. Choose another.',
    vi: 'Mật khẩu này quá phổ biến. Hãy chọn mật khẩu khác.',
  },
  password_wrong: { en: 'This is not your current password.', vi: 'Mật khẩu hiện tại chưa đúng.' },
  email_same: { en: 'This is your email address already.', vi: 'Đây đang là email của bạn.' },
  phone_same: {
    en: 'This is your phone number already.',
    vi: 'Đây đang là số điện thoại của bạn.',
  },
  amount_range: { en: 'The amount is outside the limits.', vi: 'Số tiền nằm ngoài hạn mức.' },
  location: { en: 'Choose a place from the list.', vi: 'Hãy chọn một địa điểm trong danh sách.' },
  period_order: {
    en: 'The period ends before it begins.',
    vi: 'Khoảng thời gian kết thúc trước khi bắt đầu.',
  },
  domain_form: {
    en: 'Enter a domain of your own, such as shop.example.vn.',
    vi: 'Nhập một tên miền của bạn, ví dụ shop.example.vn.',
  },
  other_server: { en: 'This is the id of another server.', vi: 'Đây là mã của một máy chủ khác.' },
  domain_taken: {
    en: 'Another of your servers has this domain.',
    vi: 'Một máy chủ khác của bạn đang dùng tên miền này.',
  },
  cursor: { en: 'This cursor is not valid.', vi: 'Con trỏ trang không hợp lệ.' },
  orders_unpaid: {
    en: 'You have five unpaid orders. Pay or delete one of them first.',
    vi: 'Bạn có năm đơn hàng chưa thanh toán. Hãy thanh toán hoặc xoá bớt một đơn trước.',
  },
} as const satisfies Record<string, Record<Language, string>>

export type RuleKey = keyof typeof rules | FormRuleKey

const isOwn = (key: RuleKey): key is keyof typeof rules => key in rules

/** The sentence of one rule, of these or of those that screens say as well. */
export const ruleText = (key: RuleKey, language: Language): string =>
  isOwn(key) ? rules[key][language] : formRuleText(key, language)
