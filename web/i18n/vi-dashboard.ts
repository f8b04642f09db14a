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
    runway: (days) => {
      if (days === 0) return 'chưa đến một ngày'
      if (days > 730) return `hơn ${Math.floor(days / 365.25)} năm`
      return `${days} ngày`
    },
    runwayBefore: 'Đủ dùng',
    runwayAfter: 'cho mọi dịch vụ sẽ gia hạn',
    runwayFar: 'Đủ dùng hơn năm năm.',
    nothingRenews: 'Chưa có dịch vụ nào gia hạn từ ví này.',
    emptyWallet: 'Nạp ví để tạo máy chủ đầu tiên.',
    renewsMonthly: 'Gia hạn mỗi tháng',
    emptyOn: 'Hết vào ngày',
    never: '—',
    topUp: 'Nạp ví',
    seeTransactions: 'Xem giao dịch',
    chart: 'Số dư 30 ngày',
    chartShort: (days) => `Số dư ${days} ngày qua`,
    chartIn: 'Đã nạp',
    chartOut: 'Đã chi',
    chartNow: 'Hiện tại',
    chartText: (now, received, spent) =>
      `Số dư 30 ngày qua: hiện tại ${now}; đã nạp ${received}, đã chi ${spent}.`,
    chartTable: 'Số dư sau mỗi giao dịch',
    received: 'Nhận gần đây',
    spent: 'Chi gần đây',
    viewDetails: 'Xem chi tiết',
    viewInvoice: 'Xem hoá đơn',
    noneReceived: 'Chưa nhận khoản nào.',
    noneSpent: 'Chưa chi khoản nào.',
    servers: 'Máy chủ WordPress',
    noServers: 'Chưa có máy chủ.',
    transactions: 'Giao dịch',
    latest: (count) => `${count} mục mới nhất`,
    invoices: 'Hoá đơn gần đây',
  },
}
