/** Tiếng Việt: tìm trong danh sách. */
import type { enListSearch } from './en-list-search.ts'

export const viListSearch: typeof enListSearch = {
  servers: {
    search: 'Tìm theo tên hoặc tên miền',
    none: 'Không có máy chủ nào có tên hoặc tên miền như vậy.',
    found: (count) => `Tìm thấy ${count} máy chủ`,
  },
  domains: {
    search: 'Tìm theo tên miền',
    none: 'Bạn không có tên miền nào có tên như vậy.',
    found: (count) => `Tìm thấy ${count} tên miền`,
  },
  showAll: 'Hiện tất cả',
}
