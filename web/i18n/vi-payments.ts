/** Vietnamese: ways to pay. */
import type { enPayments } from './en-payments.ts'

export const viPayments: typeof enPayments = {
  transfer: {
    title: 'Chuyển khoản ngân hàng',
    sub:
      'Quét mã bằng ứng dụng của bất kỳ ngân hàng Việt Nam nào, hoặc nhập tay. Trang này tự báo ' +
      'thành công khi tiền đến.',
    scan: 'Quét mã để chuyển',
    qr: 'Mã QR chuyển khoản',
    bank: 'Ngân hàng',
    account: 'Số tài khoản',
    name: 'Chủ tài khoản',
    amount: 'Số tiền',
    content: 'Nội dung chuyển khoản',
    contentHint: 'Giữ nguyên nội dung này để chúng tôi biết khoản tiền là của bạn.',
    left: (time) => `Đang chờ chuyển khoản · còn ${time}`,
    late: 'Đã hết thời gian chờ, nhưng mã vẫn dùng được: tiền chuyển sau vẫn vào ví của bạn.',
    openApp: 'Mở ứng dụng ngân hàng của sandbox',
    back: 'Chọn cách khác',
    done: 'Tiền đã đến',
    doneText: (amount) => `${amount} đã vào ví của bạn.`,
    other: (asked) => `Bạn dự định nạp ${asked}. Số tiền thực chuyển đã được cộng vào ví.`,
    unknown: 'Không tìm thấy giao dịch chuyển khoản này',
    unknownText: 'Mã có thể thuộc tài khoản khác, hoặc đã thanh toán bằng cách khác.',
  },
}
