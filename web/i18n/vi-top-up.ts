/** Tiếng Việt: nạp ví và kết quả. */
import type { enTopUp } from './en-top-up.ts'

export const viTopUp: typeof enTopUp = {
  topUp: {
    title: 'Nạp ví',
    sub: 'Nạp tiền vào ví trả trước để thanh toán mọi dịch vụ. Miễn phí nạp.',
    voucher: {
      title: 'Bạn có voucher?',
      label: 'Mã voucher',
      use: 'Sử dụng',
      empty: 'Hãy nhập mã voucher.',
      done: (amount) => `Đã cộng ${amount} vào ví`,
    },
    amountStep: 'Số tiền',
    amountLabel: (currency) => `Số tiền nạp (${currency})`,
    amountHint: (min, max) => `Từ ${min} đến ${max}. Nhập số bất kỳ hoặc chọn nhanh bên dưới.`,
    amountBad: 'Số tiền chỉ gồm chữ số.',
    amountLow: (min) => `Nạp tối thiểu ${min}.`,
    amountHigh: (max) => `Nạp tối đa ${max}.`,
    presets: 'Chọn nhanh',
    custom: 'Số khác',
    typeStep: 'Phương thức thanh toán',
    local: 'Thanh toán nội địa',
    methods: {
      2: 'Chọn ngân hàng, thẻ hoặc trả góp trên trang Alepay',
      3: 'Quét bằng ứng dụng ngân hàng, tiền vào ví sau vài giây',
      4: 'Thẻ ngân hàng có Internet Banking',
      5: 'Visa, Mastercard, JCB, Amex',
      6: 'VNPAY-QR hoặc ví VNPAY',
      bank: 'Chuyển khoản kèm mã, không cần đăng ký',
    },
    fastest: 'Nhanh nhất',
    summary: 'Tóm tắt giao dịch',
    current: 'Số dư hiện tại',
    added: 'Nạp thêm',
    fee: 'Phí',
    owed: 'Trả khoản đang nợ',
    next: 'Số dư mới',
    pay: (amount) => `Nạp ${amount}`,
    payEmpty: 'Nhập số tiền',
    payMethod: 'Chọn phương thức',
    waiting: (amount) => `Bạn có lệnh nạp ${amount} chưa chuyển khoản.`,
    waitingOpen: 'Xem chi tiết',
    safe: 'Giao dịch do đơn vị được cấp phép xử lý. Chúng tôi không nhìn thấy số thẻ của bạn.',
    leaving: 'Đang chuyển tới trang thanh toán…',
    notOffered: 'Chưa hỗ trợ nạp ví ở khu vực của bạn.',
    notOfferedText:
      'Chúng tôi đang tìm đối tác thanh toán cho khu vực này. Máy chủ và hoá đơn vẫn hoạt ' +
      'động bình thường.',
  },
  payment: {
    title: 'Thanh toán',
    succeeded: 'Nạp ví thành công',
    succeededText: 'Đã cộng tiền vào ví.',
    pending: 'Đang chờ thanh toán',
    pendingText: 'Ngân hàng chưa xác nhận giao dịch. Trang tự cập nhật; bạn cũng có thể rời trang.',
    failed: 'Thanh toán không thành công',
    failedText: 'Ví của bạn chưa được cộng tiền. Bạn có thể thử lại.',
    reasons: {
      cancelled: 'Bạn đã huỷ thanh toán.',
      not_in_time: 'Đã hết thời gian thanh toán.',
      insufficient_funds: 'Tài khoản hoặc thẻ không đủ số dư. Hãy dùng tài khoản hoặc thẻ khác.',
      limit: 'Vượt hạn mức giao dịch trong ngày. Hãy thử VietQR hoặc số tiền nhỏ hơn.',
      wrong_details: 'Thông tin thẻ hoặc tài khoản chưa đúng. Hãy kiểm tra và thử lại.',
      wrong_code: 'Mã OTP hoặc mật khẩu thanh toán chưa đúng. Hãy thử lại.',
      needs_confirmation: 'Ngân hàng yêu cầu bạn tự xác nhận giao dịch này.',
      blocked: 'Thẻ hoặc tài khoản đang bị khoá. Hãy dùng thẻ khác hoặc liên hệ ngân hàng.',
      not_enrolled:
        'Thẻ hoặc tài khoản chưa đăng ký thanh toán trực tuyến. Hãy thử cách khác, ví dụ VietQR.',
      bank_unavailable: 'Ngân hàng đang bảo trì. Hãy thử lại sau hoặc chọn cách thanh toán khác.',
      declined: 'Ngân hàng từ chối giao dịch. Hãy dùng thẻ khác hoặc liên hệ ngân hàng.',
    },
    expired: 'Giao dịch đã hết hạn',
    expiredText:
      'Đã quá thời hạn thanh toán. Nếu đã trả tiền, bạn không cần thanh toán lần nữa. Chúng ' +
      'tôi cộng tiền khi ngân hàng xác nhận, hoặc sẽ kiểm tra giao dịch.',
    held: 'Số tiền không khớp',
    heldText: (arrived, ordered) =>
      `Chúng tôi đã nhận ${arrived}, nhưng giao dịch này là ${ordered}. Tiền được giữ đến ` +
      'khi nhân viên kiểm tra xong; bạn không cần thanh toán lần nữa.',
    paidTwice: (amount) =>
      `Chúng tôi đã nhận thêm ${amount} cho giao dịch này. Số tiền đó được giữ đến khi nhân ` +
      'viên kiểm tra xong.',
    setOff: (amount) => `Trong đó ${amount} được dùng để trả khoản bạn còn nợ.`,
    unknown: 'Không tìm thấy giao dịch',
    unknownText:
      'Bạn không có giao dịch nào mang mã này. Nếu đã trả tiền, tiền được cộng vào ví khi ' +
      'cổng thanh toán xác nhận.',
    signedOut: 'Đăng nhập để xem giao dịch này',
    signedOutText:
      'Chỉ chủ tài khoản mới xem được giao dịch này. Trong lúc đó, tiền vẫn vào ví bình thường.',
    code: 'Mã giao dịch',
    amount: 'Số tiền',
    content: 'Nội dung',
    time: 'Thời gian',
    checked: (seconds) => `Kiểm tra ${seconds} giây trước`,
    again: 'Nạp lại',
    toServer: 'Xem quá trình tạo máy chủ',
    signIn: 'Đăng nhập',
  },
}
