import type { enDeskCustomers } from './en-operator-overview.ts'

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
