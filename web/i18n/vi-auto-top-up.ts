/** Vietnamese: automatic top-up. */
import type { AutoTopUpTexts } from './en-auto-top-up.ts'

export const viAutoTopUp: AutoTopUpTexts = {
  title: 'Tự động nạp ví',
  on: 'Đang bật',
  off: 'Đang tắt',
  intro: (days) =>
    'Tự động trừ tiền từ thẻ đã liên kết trước khi ví hết tiền để máy chủ không bị tạm ngưng: ' +
    `khi số dư thấp hơn mức bạn đặt, hoặc không đủ cho lần gia hạn trong ${days} ngày tới.`,
  setUp: 'Thiết lập',
  change: 'Thay đổi',
  switchOn: 'Bật lại',
  switchOff: 'Tắt',
  confirmOff: 'Tắt tự động nạp ví?',
  confirmOffText:
    'Thẻ sẽ không bị tự động trừ tiền nữa. Các lần gia hạn chỉ được trả bằng số dư có sẵn ' +
    'trong ví.',
  switchedOff: 'Đã tắt tự động nạp ví.',
  saved: 'Đã bật tự động nạp ví.',
  below: 'Khi số dư thấp hơn',
  amount: 'Nạp mỗi lần',
  monthLimit: 'Tối đa trong một tháng',
  card: 'Thẻ',
  ends: (brand, last4) => `${brand}, 4 số cuối ${last4}`,
  belowHint: 'Nhập 0 nếu chỉ muốn nạp khi số dư không đủ cho lần gia hạn.',
  amountHint: (min, max) =>
    `Từ ${min} đến ${max}. Có thể nạp nhiều hơn nếu lần gia hạn cần, trong hạn mức của tháng.`,
  monthHint: 'Khi đạt hạn mức, thẻ không bị tự động trừ tiền cho đến tháng sau.',
  consent: 'Tôi đồng ý cho trừ tiền từ thẻ mà không cần hỏi lại mỗi lần',
  consentHint: 'Bạn có thể thay đổi hoặc tắt bất cứ lúc nào. Mỗi lần nạp đều có biên nhận.',
  agreed: (day) => `Bạn đã đồng ý ngày ${day} cho trừ tiền từ thẻ mà không cần hỏi lại mỗi lần.`,
  spent: 'Đã nạp trong tháng này',
  ofLimit: (spent, limit) => `${spent} / ${limit}`,
  last: 'Lần tự động nạp gần nhất',
  never: 'Chưa có',
  states: {
    under_way: 'Đang xử lý',
    succeeded: 'Thành công',
    declined: 'Bị từ chối',
    needs_owner: 'Cần bạn xác nhận',
    not_charged: 'Chưa trừ tiền',
  },
  reasons: {
    insufficient_funds: 'Thẻ không đủ số dư.',
    limit: 'Thẻ đã vượt hạn mức của ngân hàng.',
    wrong_details: 'Thẻ đã hết hạn hoặc thông tin thẻ không còn đúng.',
    needs_confirmation: 'Ngân hàng yêu cầu bạn xác nhận giao dịch: hãy tự nạp một lần.',
    blocked: 'Ngân hàng đã khoá thẻ này.',
    bank_unavailable: 'Không kết nối được với ngân hàng của bạn.',
    other: 'Ngân hàng từ chối giao dịch.',
  },
  nextTry: (at) => `Hệ thống sẽ thử lại sau ${at} nếu ví vẫn cần tiền.`,
  offWhy: {
    declined: 'Đã tắt: thẻ bị từ chối ba lần liên tiếp.',
    card_gone: 'Đã tắt: thẻ không còn được liên kết.',
    disputed: 'Đã tắt: ngân hàng đã thu hồi một khoản thanh toán bằng thẻ.',
    region: 'Đã tắt: tài khoản của bạn không còn hỗ trợ thẻ liên kết.',
  },
  noCard: 'Hãy liên kết thẻ trước.',
  linkCard: 'Liên kết thẻ',
  save: 'Đồng ý và bật',
  keep: 'Đồng ý và lưu',
}
