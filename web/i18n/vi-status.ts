/** Vietnamese: status notices. */
import type { enStatus } from './en-status.ts'

export const viStatus: typeof enStatus = {
  title: 'Trạng thái',
  sub: (brand) => `Tình hình hoạt động của ${brand}`,
  states: {
    working: 'Mọi thứ đang hoạt động bình thường',
    incident: 'Đang có sự cố',
    maintenance: 'Đang bảo trì',
  },
  kinds: { announcement: 'Thông báo', incident: 'Sự cố', maintenance: 'Bảo trì' },
  coming: 'Sắp tới',
  past: '90 ngày qua',
  noPast: 'Không có sự cố nào.',
  fromUntil: (from, until) => `${from} đến ${until}`,
  since: (when) => `Từ ${when}`,
  closes: 'Trang quản lý tạm đóng trong thời gian này. Website và tên miền vẫn hoạt động.',
  more: 'Chi tiết',
  dismiss: 'Ẩn',
  retry: 'Thử lại',
  portal: 'Về trang khách hàng',
  offline: 'Bạn đang mất kết nối mạng. Dữ liệu hiển thị có thể đã cũ.',
  notLoaded:
    'Bạn đang mất kết nối mạng nên phần này chưa tải được. Hãy kiểm tra Wi-Fi hoặc dữ liệu di ' +
    'động. Nội dung còn thiếu sẽ tự hiện ra khi có mạng trở lại.',
}
