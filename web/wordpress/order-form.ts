/** The order as the screen holds it: what is missing, its price, and the body of the call. Pure. */
import type * as z from 'zod/mini'
import type { Currency } from '../../contract/money.ts'
import { monthlyPrice, type MonthlyLines } from '../../contract/pricing.ts'
import { wholeNumber } from '../ui/whole-number.ts'
import {
  adminUser,
  diskLimits,
  passwordHolds,
  type Order,
  type Plan,
  type Region,
} from '../../contract/wordpress.ts'

const mbPerGb = 1024
export const maxGb = Math.floor(diskLimits.maxMb / mbPerGb)
export const minGb = Math.ceil(diskLimits.minMb / mbPerGb)

/** A preset in GB, or the typed custom size. */
export interface DiskChoice {
  choice: number | 'custom' | undefined
  custom: string
}

export interface OrderForm {
  regionId: number | undefined
  planId: number | undefined
  disk: DiskChoice
  mariadb: DiskChoice
  user: string
  password: string
  containers: number
  /** The code that stands in the coupon's field at first; only its own button applies it. */
  coupon: string
  /** The link that this form has followed; what is chosen afterwards stays. */
  followed: string
}

export const emptyOrder: OrderForm = {
  regionId: undefined,
  planId: undefined,
  disk: { choice: undefined, custom: '20' },
  mariadb: { choice: undefined, custom: '20' },
  user: '',
  password: '',
  containers: 1,
  coupon: '',
  followed: '',
}

/** Whether the form holds input that would be lost; what a link chose comes again by the link. */
export const isFilled = (form: OrderForm): boolean =>
  (!form.followed && (form.regionId !== undefined || form.planId !== undefined)) ||
  form.disk.choice !== undefined ||
  form.mariadb.choice !== undefined ||
  form.user !== '' ||
  form.password !== ''

/** 0 where nothing is chosen or the typed size is no whole number. */
export function diskMb({ choice, custom }: DiskChoice): number {
  if (choice === undefined) return 0
  if (choice !== 'custom') return choice * mbPerGb
  return (wholeNumber(custom) ?? 0) * mbPerGb
}

export type Problem =
  | { key: 'region' | 'plan' | 'disk' | 'mariadb' | 'user' | 'userBad' | 'password' }
  | { key: 'diskLow' | 'diskHigh' | 'mariadbLow' | 'mariadbHigh'; gb: number }

function diskProblem(
  disk: DiskChoice,
  leastMb: number,
  name: 'disk' | 'mariadb',
): Problem | undefined {
  const mb = diskMb(disk)
  if (mb === 0) return { key: name }
  if (mb < leastMb) return { key: `${name}Low`, gb: Math.ceil(leastMb / mbPerGb) }
  if (mb > diskLimits.maxMb) return { key: `${name}High`, gb: maxGb }
  return undefined
}

/** The smallest SSD disk in the chosen data centre, MB. */
export const leastDiskMb = (region: z.output<typeof Region> | undefined): number =>
  Math.max(diskLimits.minMb, region?.minDisk ?? 0)

function userProblem(user: string): Problem | undefined {
  if (user === '') return { key: 'user' }
  return adminUser.safeParse(user).success ? undefined : { key: 'userBad' }
}

/** Everything that prevents the confirmation, in the order of the screen. */
export function problems(form: OrderForm, region: z.output<typeof Region> | undefined): Problem[] {
  const found: (Problem | undefined)[] = [
    region === undefined ? { key: 'region' } : undefined,
    form.planId === undefined ? { key: 'plan' } : undefined,
    diskProblem(form.disk, leastDiskMb(region), 'disk'),
    diskProblem(form.mariadb, diskLimits.minMb, 'mariadb'),
    userProblem(form.user),
    passwordHolds(form.password) ? undefined : { key: 'password' },
  ]
  return found.filter((problem) => problem !== undefined)
}

export interface Rates {
  diskPerGb: Record<string, number>
  mariadbDiskPerGb: Record<string, number>
}

export const rateOf = (rates: Record<string, number>, currency: Currency): number =>
  rates[currency] ?? 0

/** The present price; parts that are not chosen yet count as 0. */
export function orderPrice(
  form: OrderForm,
  plan: Plan | undefined,
  rates: Rates,
  currency: Currency,
): MonthlyLines {
  return monthlyPrice({
    plan: plan ?? { price: 0, sale_price: 0 },
    diskMb: diskMb(form.disk),
    mariadbDiskMb: diskMb(form.mariadb),
    containers: form.containers,
    ssdRate: { perGb: rateOf(rates.diskPerGb, currency) },
    mariadbRate: { perGb: rateOf(rates.mariadbDiskPerGb, currency) },
  })
}

/** The body of POST /api/wp. Undefined while something is missing. */
export function orderBody(form: OrderForm): z.input<typeof Order> | undefined {
  if (form.regionId === undefined || form.planId === undefined) return undefined
  return {
    size: form.planId,
    region: form.regionId,
    disk: diskMb(form.disk),
    mariadb_disk_size: diskMb(form.mariadb),
    user: form.user,
    password: form.password,
    replicate: form.containers,
  }
}

const alphabets = [
  'abcdefghjkmnpqrstuvwxyz',
  'ABCDEFGHJKMNPQRSTUVWXYZ',
  '23456789',
  '!@#$%^&*',
] as const

/** A random character of the alphabet, all equally likely. */
function pick(alphabet: string): string {
  const limit = 256 - (256 % alphabet.length)
  for (;;) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1))
    if (byte < limit) return alphabet[byte % alphabet.length] ?? ''
  }
}

/** Sixteen characters without look-alikes, at least one of each kind, in random order. */
export function generatePassword(): string {
  const all = alphabets.join('')
  const letters = [...alphabets.map(pick), ...Array.from({ length: 12 }, () => pick(all))]
  return letters
    .map((letter) => ({ letter, at: crypto.getRandomValues(new Uint32Array(1))[0] ?? 0 }))
    .sort((a, b) => a.at - b.at)
    .map(({ letter }) => letter)
    .join('')
}
