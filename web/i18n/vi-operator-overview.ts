import type { enDeskCustomers, enDeskOverview } from './en-operator-overview.ts'

export const viDeskCustomers: typeof enDeskCustomers = {
  all: 'Tất cả khách hàng',
  show: 'Hiển thị',
  empty: 'Không có khách hàng nào.',
  customer: 'Khách hàng',
  region: 'Khu vực',
  balance: 'Số dư',
  servers: 'Máy chủ',
  state: 'Trạng thái',
  since: 'Từ ngày',
  states: {
    all: 'Tất cả',
    active: 'Đang hoạt động',
    blocked: 'Đang bị khoá',
    not_activated: 'Chưa kích hoạt',
    closed: 'Đã đóng',
  },
}

export const viDeskOverview: typeof enDeskOverview = {
  nav: 'Tổng quan',
  title: 'Tổng quan',
  faults: 'Tình trạng hệ thống',
  well: 'Mọi thứ đều ổn',
  wrong: (n) => `${n} mục cần xem`,
  waiting: 'Việc đang chờ xử lý',
  inShell: 'Chạy `npm run ledger:check` trên máy cài hệ thống để biết chi tiết.',
  fault: {
    ledger: 'Quy tắc sổ cái bị vi phạm',
    nodes: 'Node không phản hồi',
    serversDown: 'Máy chủ không phản hồi',
    stuck: 'Thao tác trên máy chủ bị treo',
    jobs: 'Tác vụ thất bại',
    certificates: 'Chứng chỉ bị lỗi',
    backups: 'Máy chủ chưa sao lưu lại được sau lần lỗi',
    letters: 'Email và SMS không gửi được trong 24 giờ qua',
  },
  waits: {
    proposals: 'Đề xuất chờ duyệt',
    tickets: 'Yêu cầu hỗ trợ đang mở',
    dataRequests: 'Yêu cầu về dữ liệu cá nhân',
    suspense: 'Tiền chưa khớp',
    differences: 'Chênh lệch chưa giải quyết',
    disputes: 'Khiếu nại thẻ',
    overdueInvoices: 'Hoá đơn quá hạn',
  },
  overdue: {
    title: 'Hoá đơn quá hạn',
    sub: 'Các kỳ gia hạn chưa thanh toán, quá hạn lâu nhất xếp trước.',
    empty: 'Không có hoá đơn quá hạn.',
    due: (day) => `đến hạn ${day}`,
    suspended: (day) => `đã tạm ngưng, đến hạn ${day}`,
  },
}
