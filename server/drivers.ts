/** Which driver stands behind each agreement: real keys where there are some, else the sandbox's addresses and keys. Rooms never learn which. */
import path from 'node:path'
import type { Config } from './config.ts'
import { createMailDriver, createSmsDriver } from './messages/drivers/index.ts'
import type { MailDriver, SmsDriver } from './messages/index.ts'
import { createPaymentDriver } from './payments/drivers/index.ts'
import type { PaymentDriver } from './payments/index.ts'
import type { Log } from './platform/log.ts'
import { wordpressDrivers } from './wordpress/drivers/index.ts'
import type { WordpressDriver } from './wordpress/index.ts'

/** What the sandbox tells of itself once it listens. */
export interface SandboxAddresses {
  readonly url: string
  readonly smtpUrl: string
  readonly vnpay: { readonly tmnCode: string; readonly secret: string }
  readonly esms: { readonly apiKey: string; readonly secretKey: string }
}

export interface Drivers {
  readonly payments: ReadonlyMap<string, PaymentDriver>
  readonly sms: SmsDriver
  readonly mailer: MailDriver
  readonly wordpress: WordpressDriver
}

/** VNPay's public addresses; the production ones come with the contract. */
const vnpaySandbox = {
  payUrl: 'https://sandbox.vnpayment.vn/paymentv2/vpcpay.html',
  apiUrl: 'https://sandbox.vnpayment.vn/merchant_webapi/api/transaction',
}
const esmsUrl = 'https://rest.esms.vn'

/** What cannot work with this configuration, one sentence each. */
export function driverFaults(config: Config): string[] {
  if (config.sandbox) return []
  const faults: string[] = []
  if (config.ESMS_API_KEY === undefined)
    faults.push('Nothing can send SMS: set ESMS_API_KEY and ESMS_SECRET_KEY, or let the sandbox stand in (SANDBOX).')
  if (config.SMTP_URL === undefined) faults.push('Nothing can send mail: set SMTP_URL, or let the sandbox stand in (SANDBOX).')
  return faults
}

function openPayments(config: Config, sandbox: SandboxAddresses | undefined): ReadonlyMap<string, PaymentDriver> {
  const drivers = new Map<string, PaymentDriver>()
  if (config.VNPAY_TMN_CODE !== undefined) {
    const settings = {
      tmnCode: config.VNPAY_TMN_CODE,
      secret: config.VNPAY_HASH_SECRET,
      payUrl: config.VNPAY_PAY_URL ?? vnpaySandbox.payUrl,
      apiUrl: config.VNPAY_API_URL ?? vnpaySandbox.apiUrl,
    }
    drivers.set('vnpay', createPaymentDriver('vnpay', settings))
  } else if (sandbox) {
    const settings = {
      ...sandbox.vnpay,
      payUrl: `${sandbox.url}/vnpay/paymentv2/vpcpay.html`,
      apiUrl: `${sandbox.url}/vnpay/merchant_webapi/api/transaction`,
    }
    drivers.set('vnpay', createPaymentDriver('vnpay', settings))
  }
  return drivers
}

export function openDrivers(config: Config, sandbox: SandboxAddresses | undefined, log: Log): Drivers {
  const root = path.resolve(import.meta.dirname, '..')
  return {
    payments: openPayments(config, sandbox),
    sms: createSmsDriver(
      'esms',
      config.ESMS_API_KEY !== undefined || !sandbox
        ? {
            apiKey: config.ESMS_API_KEY,
            secretKey: config.ESMS_SECRET_KEY,
            brandname: config.ESMS_BRANDNAME ?? 'PORTAL',
            url: config.ESMS_URL ?? esmsUrl,
          }
        : { ...sandbox.esms, brandname: 'PORTAL', url: `${sandbox.url}/esms` },
    ),
    mailer: createMailDriver('smtp', { url: config.SMTP_URL ?? sandbox?.smtpUrl, from: config.MAIL_FROM }),
    wordpress: wordpressDrivers.embedded.create({
      dataDir: config.DATA_DIR,
      runtimeDir: path.join(root, 'runtimes', 'wordpress-wasm'),
      filesDir: path.join(root, '.cache', 'wordpress-7.1.1'),
      nodePath: process.execPath,
      settings: { WORDPRESS_INTERNET: config.WORDPRESS_INTERNET, WORDPRESS_MAX_CONTAINERS: config.WORDPRESS_MAX_CONTAINERS },
      log,
    }),
  }
}
