import { describe, expect, test } from 'vitest'
import { passwordHolds } from '../../contract/wordpress.ts'
import {
  diskMb,
  emptyOrder,
  generatePassword,
  orderBody,
  orderPrice,
  problems,
  type OrderForm,
} from './order-form.ts'
import { linkIn, withLink } from './order-link.ts'

const hanoi = { id: 1, name: 'Hà Nội', country: 'VN', minDisk: 10_240 }
const tokyo = { id: 5, name: 'Tokyo', country: 'JP', minDisk: 20_480 }
const plan = {
  id: 2,
  name: 'BASIC-2',
  cpu: 2,
  ram: 2000,
  mirrored: false,
  mailAnHour: 200,
  price: 189_000,
  sale_price: 149_000,
  currency: 'VND' as const,
  offered: true,
}
const full: OrderForm = {
  ...emptyOrder,
  regionId: 1,
  planId: 2,
  disk: { choice: 20, custom: '' },
  mariadb: { choice: 10, custom: '' },
  user: 'admin',
  password: 'matkhau-1!',
}
const keys = (form: OrderForm, region = hanoi) =>
  problems(form, region).map((problem) => problem.key)

describe('what an order lacks', () => {
  test('an empty order lacks everything, named from top to bottom', () => {
    expect(problems(emptyOrder, undefined).map((problem) => problem.key)).toEqual([
      'region',
      'plan',
      'disk',
      'mariadb',
      'user',
      'password',
    ])
  })
  test('a full order lacks nothing', () => expect(keys(full)).toEqual([]))
  test('a region with a larger minimum refuses 10 GB and takes 20', () => {
    expect(problems({ ...full, regionId: 5, disk: { choice: 10, custom: '' } }, tokyo)).toEqual([
      { key: 'diskLow', gb: 20 },
    ])
    expect(keys({ ...full, regionId: 5 }, tokyo)).toEqual([])
  })
  test('a custom disk is held to 10 to 195 GB', () => {
    const custom = (text: string) =>
      problems({ ...full, disk: { choice: 'custom', custom: text } }, hanoi)
    expect(custom('9')).toEqual([{ key: 'diskLow', gb: 10 }])
    expect(custom('10')).toEqual([])
    expect(custom('195')).toEqual([])
    expect(custom('196')).toEqual([{ key: 'diskHigh', gb: 195 }])
    expect(custom('')).toEqual([{ key: 'disk' }])
  })
  test('the password must have a digit, a non-letter and a special character', () => {
    expect(keys({ ...full, password: 'matkhau1' })).toEqual(['password'])
    expect(keys({ ...full, password: 'matkhau!' })).toEqual(['password'])
  })
  test('a user name that WordPress refuses is not "missing" but wrong', () =>
    expect(keys({ ...full, user: 'anh dương' })).toEqual(['userBad']))
})

test('the price is plan + disk + plan x containers, MariaDB included', () => {
  const rates = { diskPerGb: { VND: 4000 }, mariadbDiskPerGb: { VND: 0 } }
  expect(orderPrice(full, plan, rates, 'VND').total).toBe(149_000 + 80_000 + 149_000)
  expect(orderPrice({ ...full, containers: 3 }, plan, rates, 'VND').total).toBe(
    149_000 + 80_000 + 3 * 149_000,
  )
  expect(orderPrice(emptyOrder, undefined, rates, 'VND').total).toBe(0)
})

test('the body carries disks in MB', () => {
  expect(diskMb({ choice: 'custom', custom: '25' })).toBe(25_600)
  expect(orderBody(full)).toEqual({
    size: 2,
    region: 1,
    disk: 20_480,
    mariadb_disk_size: 10_240,
    user: 'admin',
    password: 'matkhau-1!',
    replicate: 1,
  })
  expect(orderBody(emptyOrder)).toBeUndefined()
})

test('every generated password holds the rule', () => {
  for (let round = 0; round < 200; round++) expect(passwordHolds(generatePassword())).toBe(true)
})

describe('a link to the order', () => {
  const lists = { plans: [plan], regions: [hanoi, tokyo] }

  test('chooses what it names, by id or name, and leaves what else was typed', () => {
    const typed = { ...emptyOrder, user: 'an', regionId: 1, planId: 9 }
    expect(withLink(typed, { plan: 'basic-2', coupon: 'TET' }, lists)).toMatchObject({
      planId: 2,
      regionId: 1,
      user: 'an',
      coupon: 'TET',
    })
    expect(withLink(typed, { region: '5' }, lists)).toMatchObject({ planId: 9, regionId: 5 })
  })

  test('is read from the address', () => {
    expect(linkIn('?plan=2&coupon=TET%202027&other=1')).toEqual({ plan: '2', coupon: 'TET 2027' })
    expect(withLink(full, linkIn('?other=1&plan='), lists)).toBe(full)
  })

  test('that names what is not sold chooses nothing', () => {
    const link = { plan: '77', region: 'Atlantis' }
    expect(withLink(full, link, lists)).toMatchObject({ planId: 2, regionId: 1, coupon: '' })
    expect(withLink(full, {}, lists)).toBe(full)
  })

  test('is followed once: a later choice stays', () => {
    const link = { plan: '2' }
    const chosen = { ...withLink(emptyOrder, link, lists), planId: 3 }
    expect(withLink(chosen, link, lists).planId).toBe(3)
  })
})
