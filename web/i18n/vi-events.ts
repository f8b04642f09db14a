/** Tiếng Việt: nội dung thông báo. */
import type { enEvents } from './en-events.ts'

export const viEvents: typeof enEvents = {
  events: {
    created: (number) =>
      number === null ? 'Một đơn hàng đang chờ thanh toán.' : `Hoá đơn ${number} đã được lập.`,
    lapsed: 'Một đơn hàng đã hết hiệu lực vì chưa được thanh toán đúng hạn.',
    paid: (number) => `Hoá đơn ${number} đã được thanh toán.`,
    paymentFailed: (number, due) =>
      `Chưa thanh toán được ${number === null ? 'đơn hàng' : `hoá đơn ${number}`}: số tiền phải ` +
      `trả là ${due}.`,
    subscribed: 'Đã đăng ký gói dịch vụ.',
    subscriptionChanged: 'Gói dịch vụ đã thay đổi.',
    credited: 'Đã cộng tiền vào ví.',
    creditedAmount: (amount) => `Đã cộng ${amount} vào ví.`,
    status: (name, status) => `${name}: ${status}`,
    failed: (name) => `Không tạo được máy chủ ${name}. Số tiền đã trả đã được hoàn lại vào ví.`,
    deleted: 'Đã xoá',
    steps: (count) => `Cả ${count} bước`,
    walletLow: (days) =>
      days === 0 ? 'Số dư ví sẽ hết trong vòng 24 giờ.' : `Số dư ví sẽ hết sau ${days} ngày.`,
  },
}
