import type { enTyped } from './en-typed.ts'

export const viTyped: typeof enTyped = {
  ask: 'Đóng mà không lưu nội dung đã nhập?',
  discard: 'Bỏ thay đổi',
  goOn: 'Tiếp tục sửa',
}
