import type { ViewTexts } from './en-view.ts'

export const viView: ViewTexts = {
  label: 'Bạn chỉ đang xem',
  sees: (name) => `Bạn đang xem như ${name}.`,
  nothing: 'Không thể thay đổi gì.',
  left: (minutes) => `còn ${minutes} phút`,
  leave: 'Rời khỏi',
}
