/** Tiếng Việt: tìm trong danh sách. */
import type { enListSearch } from './en-list-search.ts'

export const viListSearch: typeof enListSearch = {
  servers: {
    search: 'Tìm theo tên hoặc tên miền',
    none: 'Không có máy chủ nào khớp.',
    found: (count, more) => `Tìm thấy ${more ? 'hơn ' : ''}${count} máy chủ`,
  },
  domains: {
    search: 'Tìm theo tên miền',
    none: 'Không có tên miền nào khớp.',
    found: (count, more) => `Tìm thấy ${more ? 'hơn ' : ''}${count} tên miền`,
  },
  showAll: 'Hiện tất cả',
}
