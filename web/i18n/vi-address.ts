/** Vietnamese: fields for a street and its place. */
import type { enAddress } from './en-address.ts'

export const viAddress: typeof enAddress = {
  address: {
    line: 'Địa chỉ',
    place: 'Tỉnh/thành, phường/xã',
    placeHint: 'Gõ vài chữ cái, có dấu hay không dấu đều được.',
    placesFound: (count) => `${count} kết quả`,
    places: 'Địa điểm',
    noPlace: 'Không tìm thấy địa điểm',
    placeChosen: (name) => `Đã chọn: ${name}`,
    clear: 'Xoá địa điểm đã chọn',
  },
}
