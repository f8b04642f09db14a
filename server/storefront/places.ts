/** Places for the address field. Names and codes are facts of public record; the list is short on purpose and grows with the provider's customers. */
import type * as z from 'zod/mini'
import type { Location } from '../../contract/system.ts'

type Place = z.output<typeof Location>

const fold = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').replace(/đ/g, 'd').replace(/Đ/g, 'D').toLowerCase().trim()

const list = (country: string, type: Place['type'], names: string): Place[] =>
  names
    .split(/\s*[;\n]\s*/)
    .filter(Boolean)
    .map((name) => ({ id: `${country}-${type}-${fold(name).replace(/[^a-z0-9]+/g, '-')}`.toLowerCase(), name, type, country }))

export const places: readonly Place[] = [
  // The 34 provinces and cities of Vietnam since 1 July 2025.
  ...list('VN', 'city', 'Hà Nội; Huế; Hải Phòng; Đà Nẵng; TP. Hồ Chí Minh; Cần Thơ'),
  ...list(
    'VN',
    'province',
    `An Giang; Bắc Ninh; Cà Mau; Cao Bằng; Đắk Lắk; Điện Biên; Đồng Nai; Đồng Tháp; Gia Lai; Hà Tĩnh; Hưng Yên; Khánh Hoà; Lai Châu; Lâm Đồng; Lạng Sơn; Lào Cai; Nghệ An; Ninh Bình; Phú Thọ;
    Quảng Ngãi; Quảng Ninh; Quảng Trị; Sơn La; Tây Ninh; Thái Nguyên; Thanh Hoá; Tuyên Quang; Vĩnh Long`,
  ),
  ...list(
    'VN',
    'district',
    `Ba Đình; Hoàn Kiếm; Hai Bà Trưng; Đống Đa; Cầu Giấy; Tây Hồ; Thanh Xuân; Hoàng Mai; Long Biên; Nam Từ Liêm; Bắc Từ Liêm; Hà Đông; Sơn Tây; Quận 1; Quận 3; Quận 4; Quận 5; Quận 6; Quận 7; Quận 8; Quận 10; Quận 11;
    Quận 12; Bình Thạnh; Gò Vấp; Phú Nhuận; Tân Bình; Tân Phú; Bình Tân; Thủ Đức; Nhà Bè; Bình Chánh; Hóc Môn; Củ Chi; Hải Châu; Sơn Trà; Ngũ Hành Sơn; Liên Chiểu; Ninh Kiều; Bình Thuỷ; Hồng Bàng; Lê Chân; Ngô Quyền`,
  ),
  ...list(
    'AU',
    'province',
    'New South Wales; Victoria; Queensland; Western Australia; South Australia; Tasmania; Australian Capital Territory; Northern Territory',
  ),
  ...list('AU', 'city', 'Sydney; Melbourne; Brisbane; Perth; Adelaide; Hobart; Canberra; Darwin; Gold Coast; Newcastle; Geelong; Cairns'),
  ...list('SG', 'city', 'Singapore'),
  ...list('JP', 'city', 'Tokyo; Osaka; Nagoya; Fukuoka; Sapporo'),
  ...list('DE', 'city', 'Berlin; Hamburg; München; Köln; Frankfurt am Main; Stuttgart; Düsseldorf; Leipzig'),
  ...list('FR', 'city', 'Paris; Lyon; Marseille; Toulouse; Lille'),
  ...list('US', 'city', 'New York; Los Angeles; Chicago; Houston; San Francisco; Seattle; Boston; Austin'),
]

const searchable = places.map((place) => ({ place, folded: fold(place.name) }))
const known = new Set(places.map((place) => place.id))
const maxFound = 20

export const knowsPlace = (id: string): boolean => known.has(id)

/** Accents ignored: `ha noi` finds Hà Nội. Names that begin with the text come first. */
export function searchPlaces(text: string): Place[] {
  const wanted = fold(text)
  if (wanted === '') return []
  const found = searchable.filter(({ folded }) => folded.includes(wanted))
  return found
    .toSorted((a, b) => Number(b.folded.startsWith(wanted)) - Number(a.folded.startsWith(wanted)))
    .slice(0, maxFound)
    .map(({ place }) => place)
}
