import type { enTools } from './en-tools.ts'
import { viDatabase } from './vi-database.ts'

/** Tiếng Việt: dòng lệnh và cơ sở dữ liệu của một máy chủ. */
export const viTools: typeof enTools = {
  ...viDatabase,
  console: {
    title: 'Dòng lệnh',
    hint:
      'Các lệnh WP-CLI thông dụng, chạy trên trang web này. Phím Tab hoàn thành từ, phím mũi tên ' +
      'gọi lại lệnh trước.',
    log: 'Các lệnh và kết quả',
    welcome: 'Gõ “help” để xem tất cả các lệnh.',
    prompt: 'Lệnh',
    run: 'Chạy',
    help: 'Trợ giúp',
    clear: 'Xoá màn hình',
    running: 'Đang chạy…',
    copyOf: (command: string) => `Sao chép kết quả của “${command}”`,
    cut: 'Kết quả quá dài nên phần còn lại không được hiển thị.',
    empty: 'Không có kết quả.',
    took: (ms: string) => `${ms} ms`,
    choices: (all: string) => `Có thể là: ${all}`,
    closed: 'Chỉ chạy được lệnh khi máy chủ đang hoạt động.',
    confirmTitle: 'Chạy lệnh này?',
    confirmText:
      'Lệnh này sửa hoặc xoá nhiều dữ liệu và không hoàn tác được. Bạn nên tạo bản sao lưu trước.',
    confirm: 'Chạy lệnh',
    history: 'Lịch sử',
    historyHint:
      'Ai đã chạy lệnh gì trong 90 ngày. Kết quả của lệnh và mật khẩu không được lưu lại.',
    noHistory: 'Chưa có lệnh nào được chạy ở đây.',
    more: (count: number) => `Xem thêm ${count} lệnh`,
    use: (command: string) => `Đưa “${command}” vào ô lệnh`,
    outcomes: {
      done: 'Xong',
      failed: 'Không thành công',
      slow: 'Quá thời gian',
      broken: 'Bị trang web làm gián đoạn',
      lost: 'Không rõ',
      running: 'Đang chạy',
    },
  },
}
