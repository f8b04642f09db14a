/** The form of catalog.yaml. */
import * as z from 'zod'
import { currencies, regionCodes, toMajor, toMinor, type Currency } from '../../contract/money.ts'
import { countryCodes } from '../../contract/phone.ts'
import { methods } from '../../contract/payments.ts'
import { Config } from '../../contract/system.ts'

/** Messages of the desk's form for our own rules. */
const said = {
  amount: (code: Currency) => ({
    en: `Enter an amount in ${code}, such as ${toMajor(400, code)}.`,
    vi: `Nhập số tiền ${code}, ví dụ ${toMajor(400, code)}.`,
  }),
  price: (code: Currency) => ({
    en: `Enter a price above 0 in ${code}, such as ${toMajor(8900, code)}.`,
    vi: `Nhập giá lớn hơn 0 bằng ${code}, ví dụ ${toMajor(8900, code)}.`,
  }),
  sale: {
    en: 'Enter an amount below the price, or nothing.',
    vi: 'Nhập số tiền thấp hơn giá gốc, hoặc để trống.',
  },
}

const text = z.union([z.number(), z.string()]).transform(String)

/** One price per currency: written in major units, parsed to minor units. */
const perCurrency = z
  .strictObject(
    Object.fromEntries(currencies.map((code) => [code, text])) as Record<Currency, typeof text>,
  )
  .transform((written, context) => {
    const read = {} as Record<Currency, number>
    for (const code of currencies) {
      const minor = toMinor(written[code], code)
      if (minor === undefined)
        context.addIssue({
          code: 'custom',
          path: [code],
          message: `is no amount of ${code}: ${written[code]}`,
          params: said.amount(code),
        })
      else read[code] = minor
    }
    return read
  })

const planPrices = z
  .strictObject(
    Object.fromEntries(
      currencies.map((code) => [code, z.strictObject({ price: text, sale: text.optional() })]),
    ) as Record<Currency, z.ZodObject<{ price: typeof text; sale: z.ZodOptional<typeof text> }>>,
  )
  .transform((written, context) => {
    const read = {} as Record<Currency, { price: number; sale_price: number }>
    for (const code of currencies) {
      const price = toMinor(written[code].price, code)
      const sale = written[code].sale === undefined ? 0 : toMinor(written[code].sale, code)
      if (price === undefined || price === 0)
        context.addIssue({
          code: 'custom',
          path: [code, 'price'],
          message: `is no price in ${code}`,
          params: said.price(code),
        })
      else if (sale === undefined || sale >= price)
        context.addIssue({
          code: 'custom',
          path: [code, 'sale'],
          message: 'must be an amount below the price',
          params: said.sale,
        })
      else read[code] = { price, sale_price: sale }
    }
    return read
  })

const topUp = (code: Currency) =>
  z
    .strictObject({ presets: z.array(text).min(1), min: text, max: text })
    .transform((written, context) => {
      const amount = (value: string, path: string): number => {
        const minor = toMinor(value, code)
        if (minor === undefined)
          context.addIssue({
            code: 'custom',
            path: [path],
            message: `is no amount of ${code}: ${value}`,
          })
        return minor ?? 0
      }
      const read = {
        presets: written.presets.map((preset) => amount(preset, 'presets')),
        min: amount(written.min, 'min'),
        max: amount(written.max, 'max'),
      }
      if (read.max < read.min)
        context.addIssue({ code: 'custom', path: ['max'], message: 'must not be below min' })
      else if (read.presets.some((preset) => preset < read.min || preset > read.max))
        context.addIssue({
          code: 'custom',
          path: ['presets'],
          message: 'must lie between min and max',
        })
      return read
    })

const language = z.enum(['en', 'vi', 'aud'])
const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
/** Percent with at most two decimals, parsed to hundredths of a percent. */
const rate = z
  .union([z.number(), z.string()])
  .refine(
    (percent) => /^\d{1,2}(\.\d{1,2})?$/.test(String(percent)),
    'is no rate in percent, from 0 to 99.99',
  )
  .transform((percent) => Math.round(Number(percent) * 100))
const region = z.strictObject({
  currency: z.enum(currencies),
  language,
  timeZone: z
    .string()
    .refine(isTimeZone, 'is no time zone such as Asia/Ho_Chi_Minh')
    .default('UTC'),
  tax: z
    .strictObject({ name: z.string().min(1), percent: rate })
    .transform(({ name, percent }) => ({ name, rate: percent }))
    .default({ name: '', rate: 0 }),
  /** ISO 3166 codes of the countries to whose numbers codes are sent. */
  smsCountries: z.array(z.enum(countryCodes)).min(1).optional(),
})

const grows = (days: readonly number[]): boolean =>
  days.every((day, at) => at === 0 || day > (days[at - 1] ?? 0))
const dayCount = z.int().min(0).max(365)
/**
 * Dunning days after an unpaid renewal, levels of warning for low wallets (days), and the days
 * until an order lapses.
 */
const billing = z
  .strictObject({
    reminderDays: z.array(dayCount).min(1).refine(grows, 'must grow'),
    suspendDays: dayCount.min(1),
    deleteDays: dayCount,
    lowRunwayDays: z.array(dayCount),
    order_lapses_days: dayCount.min(1).default(7),
  })
  .refine(({ reminderDays, suspendDays }) => (reminderDays.at(-1) ?? 0) < suspendDays, {
    path: ['suspendDays'],
    message: 'must come after the last reminder',
  })
  .refine(({ suspendDays, deleteDays }) => suspendDays < deleteDays, {
    path: ['deleteDays'],
    message: 'must come after suspendDays',
  })

/** The gateway of a way to pay that is not chosen by method and type, and its regions. */
const gatewayOf = z.strictObject({
  gateway: z.string().min(1),
  regions: z.array(z.enum(regionCodes)),
})

/** Emails that a server may send in an hour, if its plan does not say. */
export const usualMailAnHour = 100

/** An item that is no longer sold stays for its customers, because its limits still apply. */
const soldOrNot = z.boolean().default(true)

const uniqueIds = (items: readonly { readonly id: number }[]): boolean =>
  new Set(items.map((item) => item.id)).size === items.length

const bothLanguages = z.strictObject({ en: z.string().min(1), vi: z.string().min(1) })

/** WCAG 2.2's contrast ratio of a colour against white: 1 to 21. */
function contrastWithWhite(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
}

const brand = z.strictObject({
  name: z.string().trim().min(1).max(40).default('Let’s Panel'),
  color: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour such as "#4361EE"')
    .refine(
      (hex) => contrastWithWhite(hex) >= 4.5,
      'is too light for white letters on it: their contrast must be at least 4.5',
    )
    .nullable()
    .default(null),
  /** A file beside the catalogue. */
  logo: z
    .string()
    .regex(/\.(svg|png|webp)$/i, 'must name an .svg, .png or .webp file')
    .nullable()
    .default(null),
})

export const CatalogFile = z.strictObject({
  seller: z.strictObject({ name: z.string().min(1), taxCode: z.string(), address: z.string() }),
  brand: brand.default({ name: 'Let’s Panel', color: null, logo: null }),
  legal: z.strictObject({ terms: bothLanguages, privacy: bothLanguages, cookies: bothLanguages }),
  support: z
    .strictObject({
      email: z.email().nullable().default(null),
      url: z
        .url({ protocol: /^https?$/ })
        .nullable()
        .default(null),
    })
    .default({ email: null, url: null }),
  products: z.strictObject(Config.shape.products.shape),
  regions: z.strictObject(
    Object.fromEntries(regionCodes.map((code) => [code, region])) as Record<
      (typeof regionCodes)[number],
      typeof region
    >,
  ),
  billing: billing.default({
    reminderDays: [0, 3, 6],
    suspendDays: 7,
    deleteDays: 30,
    lowRunwayDays: [7, 3, 1],
    order_lapses_days: 7,
  }),
  dataCentres: z
    .array(
      z.strictObject({
        id: z.int().positive(),
        name: z.string().min(1),
        country: z.string().length(2),
        minDiskGb: z.int().min(10),
        sold: soldOrNot,
      }),
    )
    .min(1)
    .refine(uniqueIds, 'holds the same id twice'),
  plans: z
    .array(
      z.strictObject({
        id: z.int().positive(),
        name: z.string().min(1),
        cpu: z.number().positive(),
        ram: z.int().min(512),
        /** Emails that a server may send in an hour, each recipient counted. */
        mailAnHour: z.int().min(1).max(1_000_000).default(usualMailAnHour),
        /** Servers have a copy on a second node that follows them. */
        mirrored: z.boolean().default(false),
        sold: soldOrNot,
        prices: planPrices,
      }),
    )
    .min(1)
    .refine(uniqueIds, 'holds the same id twice'),
  disks: z.strictObject({ ssdPerGb: perCurrency, mariadbPerGb: perCurrency }),
  payments: z.strictObject({
    currencies: z.strictObject(
      Object.fromEntries(currencies.map((code) => [code, topUp(code)])) as Record<
        Currency,
        ReturnType<typeof topUp>
      >,
    ),
    cards: gatewayOf,
    tokens: gatewayOf,
    routing: z.array(
      z.strictObject({
        regions: z.array(z.enum(regionCodes)).min(1),
        type: z.union([z.literal(1), z.literal(2)]),
        method: z.nullable(z.enum(methods)),
        gateway: z.string().min(1),
        channel: z.string(),
        show: z
          .strictObject({ id: z.int(), en: z.string().min(1), vi: z.string().min(1) })
          .optional(),
      }),
    ),
  }),
})
export type Catalog = z.output<typeof CatalogFile>
