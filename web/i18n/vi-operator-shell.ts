import type { enShellActs } from './en-operator-shell.ts'

export const viShellActs: {
  readonly [K in keyof typeof enShellActs]: Record<keyof (typeof enShellActs)[K], string>
} = {
  names: {
    'catalog.use': 'Dùng tệp làm danh mục',
    'node.add': 'Khai báo node',
    'node.key': 'Xem khoá của node',
    'node.drain': 'Chuyển hết máy chủ khỏi node',
    'node.activate': 'Cho node nhận máy chủ trở lại',
    'node.remove': 'Xoá node khỏi danh sách',
    'updates.plan': 'Lập đợt cập nhật',
    'updates.start': 'Bắt đầu đợt cập nhật',
    'updates.pause': 'Tạm dừng đợt cập nhật',
    'updates.resume': 'Chạy tiếp đợt cập nhật',
    'updates.cancel': 'Huỷ đợt cập nhật',
  },
  facts: {
    mailSuspended: 'Lý do tạm ngưng email',
    note: 'Ghi chú',
    origin: 'Tệp của',
    address: 'Địa chỉ',
    edge: 'Địa chỉ edge',
    regions: 'Trung tâm dữ liệu',
    nodeState: 'Trạng thái node',
    wave: 'Đợt',
    waveSites: 'Số trang web cần cập nhật',
    waveState: 'Trạng thái đợt',
    stages: 'Số trang web mỗi giai đoạn (0: phần còn lại)',
    stopPercent: 'Ngưỡng dừng (%)',
    releases: 'Loại bản cập nhật',
    empties: 'Máy chủ được chuyển đi',
  },
}
