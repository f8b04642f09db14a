/** Tiếng Việt: bảng lệnh. */
import type { enPalette } from './en-palette.ts'

export const viPalette: typeof enPalette = {
  palette: {
    title: 'Bảng lệnh',
    placeholder: 'Tìm trang, máy chủ, tên miền, hoá đơn, thao tác…',
    go: 'Đi tới',
    act: 'Thao tác',
    server: 'Máy chủ',
    domain: 'Tên miền',
    invoice: 'Hoá đơn',
    none: (query) => `Không tìm thấy kết quả nào cho “${query}”.`,
    results: (count) => `${count} kết quả`,
    help: 'Trợ giúp',
    lockAfter: (minutes) =>
      minutes === 0
        ? 'Khoá màn hình: không tự khoá'
        : `Khoá màn hình: sau ${minutes} phút không hoạt động`,
    newWordpress: 'Tạo máy chủ WordPress',
  },
}
