/** Vietnamese: ways to pay. */
import type { enPayments } from './en-payments.ts'

export const viPayments: typeof enPayments = {
  transfer: {
    title: 'Chuyển khoản ngân hàng',
    sub:
      'Quét mã bằng ứng dụng ngân hàng Việt Nam, hoặc nhập tay. Trang tự cập nhật khi nhận ' +
      'được tiền.',
    scan: 'Quét mã để chuyển',
    scanHere:
      'Nếu dùng chính điện thoại này, hãy chụp màn hình rồi chọn ảnh đó trong ứng dụng ngân hàng.',
    qr: 'Mã QR chuyển khoản',
    bank: 'Ngân hàng',
    account: 'Số tài khoản',
    name: 'Chủ tài khoản',
    amount: 'Số tiền',
    content: 'Nội dung chuyển khoản',
    contentHint: 'Nhập đúng nội dung này để chúng tôi đối soát khoản chuyển của bạn.',
    next: 'Khi nhận được tiền, chúng tôi cộng ngay vào ví, kể cả khi bạn đã đóng trang này.',
    left: (time) => `Đang chờ chuyển khoản · còn ${time}`,
    late: 'Đã hết thời gian chờ nhưng mã vẫn dùng được. Tiền chuyển sau vẫn được cộng vào ví.',
    openApp: 'Mở ứng dụng ngân hàng của sandbox',
    back: 'Chọn cách khác',
    done: 'Nạp ví thành công',
    doneText: (amount) => `Đã cộng ${amount} vào ví.`,
    other: (asked) => `Bạn đã chọn nạp ${asked}. Chúng tôi cộng đúng số tiền bạn đã chuyển.`,
    setOff: (amount) => `Trong đó ${amount} được dùng để trả khoản bạn còn nợ.`,
    unknown: 'Không tìm thấy giao dịch chuyển khoản này',
    unknownText: 'Mã có thể thuộc tài khoản khác, hoặc đã thanh toán bằng cách khác.',
  },
}
