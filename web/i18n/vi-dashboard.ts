/** Tiếng Việt: trang tổng quan. */
import type { enDashboard } from './en-dashboard.ts'

const weekdays = ['Chủ Nhật', 'Thứ Hai', 'Thứ Ba', 'Thứ Tư', 'Thứ Năm', 'Thứ Sáu', 'Thứ Bảy']

export const viDashboard: typeof enDashboard = {
  dashboard: {
    title: 'Tổng quan',
    today: (date) => `${weekdays[date.getDay()]}, ${date.getDate()} tháng ${date.getMonth() + 1}`,
    billingRegion: 'Khu vực thanh toán',
    newWordpress: 'Tạo WordPress',
    unpaid: (count) => `${count} hoá đơn chưa thanh toán`,
    stillDue: 'còn thiếu',
    payNow: 'Thanh toán ngay',
    balance: 'Số dư ví',
    prepaid: 'Trả trước',
    runwayBefore: 'Đủ gia hạn đến',
    runwayShort: 'Số dư ví sẽ hết trong vòng 24 giờ.',
    runwayFar: 'Đủ gia hạn hơn năm năm.',
    nothingRenews: 'Chưa có dịch vụ nào sắp gia hạn.',
    owesLate: (amount, day) => `Bạn đang nợ ${amount} theo hạn mức công nợ, đã quá hạn từ ${day}`,
    owes: (amount, day) => `Bạn đang nợ ${amount} theo hạn mức công nợ, đến hạn ${day}`,
    emptyWallet: 'Nạp ví để tạo máy chủ đầu tiên.',
    renewsMonthly: 'Phí gia hạn hằng tháng',
    emptyOn: 'Dự kiến hết',
    never: '—',
    topUp: 'Nạp ví',
    seeTransactions: 'Xem giao dịch',
    chart: 'Số dư 30 ngày',
    chartShort: (days) => `Số dư ${days} ngày qua`,
    chartIn: 'Tiền vào',
    chartOut: 'Tiền ra',
    chartNow: 'Hiện tại',
    chartText: (now, received, spent) =>
      `Số dư 30 ngày qua: hiện tại ${now}; tiền vào ${received}, tiền ra ${spent}.`,
    chartTable: 'Số dư sau mỗi giao dịch',
    received: 'Tiền vào gần đây',
    spent: 'Chi tiêu gần đây',
    viewDetails: 'Xem chi tiết',
    viewInvoice: 'Xem hoá đơn',
    noneReceived: 'Chưa có khoản tiền vào nào.',
    noneSpent: 'Chưa có khoản chi nào.',
    servers: 'Máy chủ WordPress',
    noServers: 'Chưa có máy chủ.',
    transactions: 'Giao dịch',
    latest: (count) => `${count} mục mới nhất`,
    invoices: 'Hoá đơn gần đây',
  },
}
