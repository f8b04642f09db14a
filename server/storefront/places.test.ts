import { expect, test } from 'vitest'
import { Registration } from '../../contract/registration.ts'
import { places, printedPlace, searchPlaces } from './places.ts'

const first = (text: string) => searchPlaces(text)[0]?.name

test.each([
  ['ha noi', 'Hà Nội'],
  ['sai gon', 'Sài Gòn, TP. Hồ Chí Minh'],
  ['da lat', 'Đà Lạt, Lâm Đồng'],
  ['Đà Lạt'.normalize('NFD'), 'Đà Lạt, Lâm Đồng'],
  ['vung tau', 'Vũng Tàu, TP. Hồ Chí Minh'],
  ['nghi son', 'Nghi Sơn, Thanh Hoá'],
  ['tp ho chi minh', 'TP. Hồ Chí Minh'],
  ['hanoi', 'Hà Nội'],
  ['Thành phố Hà Nội', 'Hà Nội'],
  ['TP.HCM', 'TP. Hồ Chí Minh'],
  ['Quận Cầu Giấy', 'Cầu Giấy'],
  ['quận 1', 'Quận 1'],
  ['Thừa Thiên Huế', 'Huế'],
  ['parramatta', 'Parramatta, New South Wales'],
  ['toowoomba', 'Toowoomba, Queensland'],
  ["o'connor", "O'Connor, Australian Capital Territory"],
  ['sydney', 'Sydney'],
])('%s finds %s', (text, name) => expect(first(text)).toBe(name))

test('places of one name are told apart by their province, which may be typed too', () => {
  const names = searchPlaces('chau thanh').map(({ name }) => name)
  expect(names.length).toBeGreaterThan(3)
  expect(new Set(names).size).toBe(names.length)
  expect(first('chau thanh, vinh long')).toBe('Châu Thành, Vĩnh Long')
  expect(first('phan thiet lam')).toBe('Phan Thiết, Lâm Đồng')
})

test('every place has an id of its own', () => {
  expect(places.length).toBeGreaterThan(4500)
  expect(new Set(places.map(({ id }) => id)).size).toBe(places.length)
  for (const { id } of places) expect(id).toMatch(/^[a-z]{2}-(province|city|district)-[a-z0-9-]+$/)
})

test('every place can be chosen at the registration', () => {
  const form = {
    name: 'An',
    email: 'an@example.vn',
    phone: '0912345678',
    password: 'Correct-horse-9',
    region_code: 'VN',
  }
  const refused = places.filter(
    ({ id }) =>
      !Registration.safeParse({ ...form, address: { line: '1 Tràng Tiền', locationId: id } })
        .success,
  )
  expect(refused).toEqual([])
})

test.each([
  ['vn-district-quan-1', 'Quận 1, TP. Hồ Chí Minh, Việt Nam'],
  ['vn-district-ninh-kieu', 'Ninh Kiều, Cần Thơ, Việt Nam'],
  ['vn-district-da-lat-lam-dong', 'Đà Lạt, Lâm Đồng, Việt Nam'],
  ['au-city-sydney', 'Sydney, Australia'],
  ['de-city-koln', 'Köln, Germany'],
  ['sg-city-singapore', 'Singapore'],
  ['vn-city-atlantis', undefined],
])('an address in %s ends in %s', (id, printed) => expect(printedPlace(id)).toBe(printed))
