/**
 * Places for the address field: the provinces and the best known cities and districts, written by
 * hand, and behind them the towns and districts of Vietnam and Australia in places.json, which
 * scripts/places.ts takes from GeoNames.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type * as z from 'zod/mini'
import type { Location } from '../../contract/system.ts'
import { foldName, provinces, vietnamCities } from './provinces.ts'

type Place = z.output<typeof Location>

const list = (country: string, type: Place['type'], names: string): Place[] =>
  names
    .split(/\s*[;\n]\s*/)
    .filter(Boolean)
    .map((name) => ({
      id: `${country}-${type}-${foldName(name).replace(/[^a-z0-9]+/g, '-')}`.toLowerCase(),
      name,
      type,
      country,
    }))

/** The districts that are known by their own name alone, by their city. */
const districts: Partial<Record<(typeof vietnamCities)[number], string>> = {
  'Hà Nội':
    'Ba Đình; Hoàn Kiếm; Hai Bà Trưng; Đống Đa; Cầu Giấy; Tây Hồ; Thanh Xuân; Hoàng Mai; Long ' +
    'Biên; Nam Từ Liêm; Bắc Từ Liêm; Hà Đông; Sơn Tây',
  'TP. Hồ Chí Minh': `Quận 1; Quận 3; Quận 4; Quận 5; Quận 6; Quận 7; Quận 8; Quận 10;
    Quận 11; Quận 12; Bình Thạnh; Gò Vấp; Phú Nhuận; Tân Bình; Tân Phú; Bình Tân;
    Thủ Đức; Nhà Bè; Bình Chánh; Hóc Môn; Củ Chi`,
  'Đà Nẵng': 'Hải Châu; Sơn Trà; Ngũ Hành Sơn; Liên Chiểu',
  'Cần Thơ': 'Ninh Kiều; Bình Thuỷ',
  'Hải Phòng': 'Hồng Bàng; Lê Chân; Ngô Quyền',
}
/** By the district's id. */
const cityOf = new Map(
  Object.entries(districts).flatMap(([city, names]) =>
    list('VN', 'district', names).map(({ id }) => [id, city]),
  ),
)

const wellKnown: readonly Place[] = [
  ...list('VN', 'city', vietnamCities.join(';')),
  ...list('VN', 'province', provinces.VN.slice(vietnamCities.length).join(';')),
  ...list('VN', 'district', Object.values(districts).join(';')),
  ...list('AU', 'province', provinces.AU.join(';')),
  ...list(
    'AU',
    'city',
    'Sydney; Melbourne; Brisbane; Perth; Adelaide; Hobart; Canberra; Darwin; Gold Coast; ' +
      'Newcastle; Geelong; Cairns',
  ),
  ...list('SG', 'city', 'Singapore'),
  ...list('JP', 'city', 'Tokyo; Osaka; Nagoya; Fukuoka; Sapporo'),
  ...list(
    'DE',
    'city',
    'Berlin; Hamburg; München; Köln; Frankfurt am Main; Stuttgart; Düsseldorf; Leipzig',
  ),
  ...list('FR', 'city', 'Paris; Lyon; Marseille; Toulouse; Lille'),
  ...list(
    'US',
    'city',
    'New York; Los Angeles; Chicago; Houston; San Francisco; Seattle; Boston; Austin',
  ),
]

/** By country, then by province or state. */
type Gazetteer = Record<'VN' | 'AU', Record<string, readonly string[]>>
const gazetteer = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'places.json'), 'utf8'),
) as Gazetteer

/** Many places share a name: each shows its province, except those in the list above. */
function towns(country: 'VN' | 'AU'): Place[] {
  const listed = new Set(
    wellKnown.filter((place) => place.country === country).map(({ name }) => foldName(name)),
  )
  // The districts above are those of the big cities; a Tân Phú in Đồng Nai is another place.
  const covered = (province: string) =>
    country === 'AU' || (vietnamCities as readonly string[]).includes(province)
  return Object.entries(gazetteer[country]).flatMap(([province, names]) =>
    names
      .filter((name) => !(covered(province) && listed.has(foldName(name))))
      .flatMap((name) =>
        list(country, country === 'VN' ? 'district' : 'city', `${name}, ${province}`),
      ),
  )
}
export const places: readonly Place[] = [...wellKnown, ...towns('VN'), ...towns('AU')]

/**
 * Removes the kind of place and spaces: "TP. Hà Nội" and "hanoi" become equal. A number keeps its
 * word: Quận 1.
 */
const compact = (folded: string): string =>
  folded
    .replace(/\b(thanh pho|tp|tinh|quan|huyen|thi xa)\b[. ]*(?=[a-z])/g, '')
    .replace(/[\s.,-]+/g, '')
/** Other common names. */
const also: Readonly<Record<string, string>> = {
  hcm: 'hochiminh',
  hcmc: 'hochiminh',
  tphcm: 'hochiminh',
  hn: 'hanoi',
  thuathienhue: 'hue',
}
const searchable = places.map((place) => ({
  place,
  folded: foldName(place.name),
  compacted: compact(foldName(place.name)),
}))
const known = new Map(places.map((place) => [place.id, place]))

export const placeOf = (id: string): Place | undefined => known.get(id)

const countryNames = new Intl.DisplayNames('en', { type: 'region' })
const countryName = (code: string): string =>
  code === 'VN' ? 'Việt Nam' : (countryNames.of(code) ?? code)

/**
 * The end of an address: the place, a district's city, and the country. "Quận 1, TP. Hồ Chí Minh,
 * Việt Nam".
 */
export function printedPlace(id: string): string | undefined {
  const place = known.get(id)
  if (place === undefined) return undefined
  // A set, for Singapore is its own country.
  return [...new Set([place.name, cityOf.get(id), countryName(place.country)])]
    .filter(Boolean)
    .join(', ')
}

/**
 * Accents ignored: `ha noi` finds Hà Nội. Names that are the text come first, then those that begin
 * with it, then those where a word does.
 */
export function searchPlaces(text: string): Place[] {
  const wanted = foldName(text)
  if (wanted === '') return []
  const typed = compact(wanted)
  const meant = also[typed] ?? typed
  const rank = ({ folded, compacted }: (typeof searchable)[number]): number => {
    if (folded === wanted || compacted === meant) return 0
    if (folded.startsWith(wanted)) return 1
    if (folded.includes(` ${wanted}`)) return 2
    return 3
  }
  return searchable
    .filter(
      ({ folded, compacted }) =>
        folded.includes(wanted) || (meant !== '' && compacted.includes(meant)),
    )
    .toSorted((a, b) => rank(a) - rank(b))
    .map(({ place }) => place)
}
