import type { enPhp } from './en-php.ts'

export const viPhp: typeof enPhp = {
  php: {
    title: 'PHP',
    hint:
      'Bộ nhớ đi theo gói. Khi thay đổi, các container được thay lần lượt nên khách truy cập ' +
      'không bị gián đoạn.',
    upload: 'Kích thước tải lên tối đa (MB)',
    uploadHint: 'Áp dụng cho giao diện, plugin, ảnh và tệp tải lên trong wp-admin. Từ 8 đến 128.',
    seconds: 'Thời gian tối đa cho một trang (giây)',
    secondsHint: (most) => `Trang chạy lâu hơn sẽ bị dừng. Từ 5 đến ${most}.`,
    vars: 'Số trường tối đa của biểu mẫu',
    varsHint: 'Tăng lên khi menu hoặc biểu mẫu sản phẩm lớn bị mất mục. Từ 1.000 đến 20.000.',
    debug: 'Chế độ gỡ lỗi (WP_DEBUG)',
    debugHint:
      'Cảnh báo của plugin và giao diện được ghi vào Nhật ký. Khách truy cập không nhìn thấy.',
    save: 'Lưu',
    saved: 'Đã lưu thiết lập PHP. Thay đổi có hiệu lực trong vòng một phút.',
    applying: 'Đang áp dụng thiết lập…',
    closed: 'Chỉ đổi được thiết lập PHP khi máy chủ đang chạy.',
  },
}
