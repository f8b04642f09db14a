import type { enTrailCodes } from './en-operator-trail.ts'

export const viTrailCodes: typeof enTrailCodes = {
  job: { given_up: 'thất bại', waiting: 'đang chờ' },
  mailSuspended: { bounces: 'thư bị trả lại', complaint: 'bị khiếu nại', operator: 'nhà cung cấp' },
  state: {
    open: 'đang mở',
    answered: 'đã trả lời',
    closed: 'đã đóng',
    done: 'đã thực hiện',
    refused: 'đã từ chối',
    needs_evidence: 'cần bằng chứng',
    under_review: 'đang xem xét',
    provisioning: 'đang khởi tạo',
    pending_payment: 'chờ thanh toán',
    running: 'đang chạy',
    suspended: 'tạm ngưng',
    failed: 'đã huỷ',
    given_up: 'không gửi được',
    waiting: 'đang chờ',
    again: 'đã gửi lại',
  },
  kind: {
    announcement: 'thông báo',
    incident: 'sự cố',
    maintenance: 'bảo trì',
    access: 'xem dữ liệu',
    correction: 'chỉnh sửa',
    objection: 'phản đối xử lý',
    erasure: 'xoá dữ liệu',
    mail: 'email',
    sms: 'SMS',
  },
}
