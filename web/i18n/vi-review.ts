import type { enReview } from './en-review.ts'

export const viReview: typeof enReview = {
  review: {
    title: 'Xác nhận thông tin',
    text: 'Vui lòng kiểm tra đơn hàng. Chúng tôi trừ ví khi bạn xác nhận.',
    region: 'Trung tâm dữ liệu',
    plan: 'Cấu hình',
    mail: 'Email',
    anHour: (count) => `tối đa ${count} thư mỗi giờ`,
    mirror: 'Bản sao',
    mirrored: 'trên máy thứ hai',
    disk: 'Ổ SSD',
    mariadb: 'MariaDB',
    user: 'Tên đăng nhập',
    password: 'Mật khẩu',
    containers: 'Số container',
    monthly: 'Chi phí mỗi tháng',
    older: 'Hoá đơn cũ hơn chưa thanh toán',
    left: 'Còn lại trong ví',
    enough: (balance, months) => `Ví ${balance} · đủ ${months} tháng`,
    short: (balance, short) => `Ví ${balance} · còn thiếu ${short}`,
    shortWithOlder: (balance, short, alone) =>
      `Ví ${balance} · còn thiếu ${alone}, hoặc ${short} nếu tính cả hoá đơn cũ hơn`,
    confirmShort: (amount) => `Xác nhận, sau đó nạp ${amount}`,
    confirm: (price) => `Xác nhận · ${price}`,
    shortNote: 'Số dư không đủ. Chúng tôi sẽ khởi tạo máy chủ ngay khi bạn nạp ví.',
    olderNote: (alone) =>
      'Số tiền trên gồm cả các hoá đơn cũ hơn. Riêng đơn này còn thiếu ' +
      `${alone}, nhưng tiền trong ví trả trước cho hoá đơn cũ hơn mà số dư đủ trả.`,
    coupon: {
      have: 'Tôi có mã giảm giá',
      label: 'Mã giảm giá',
      apply: 'Áp dụng',
      empty: 'Hãy nhập mã.',
      remove: 'Bỏ mã',
      applied: (code, off) => `Mã ${code}: giảm ${off} cho tháng đầu tiên.`,
      first: 'Tháng đầu tiên',
    },
    leaveTitle: 'Rời khỏi trang này?',
    leaveText: 'Đơn hàng chưa được gửi. Thông tin bạn đã nhập sẽ mất.',
    leaveStay: 'Ở lại',
    leaveGo: 'Rời trang',
    sqliteNote:
      'Tại đây WordPress chạy trên SQLite thay cho MariaDB: plugin bắt buộc dùng MySQL ' +
      'sẽ không chạy được.',
  },
}
