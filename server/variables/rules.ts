/** Rules for the values of environment variables that several variables share. */
import { accessSync, constants, statSync } from 'node:fs'
import { isIP } from 'node:net'
import path from 'node:path'
import * as z from 'zod'
import { readHostAndPort } from '../../contract/host-and-port.ts'
import { currencies, toMinor, type Currency } from '../../contract/money.ts'
import { readDatabaseAddress } from '../platform/database-address.ts'

export const blankMeansFault = (name: string) =>
  z
    .string()
    .refine((text) => text.trim() !== '', `${name} is set but empty: give it a value or remove it.`)
/** Digits and dots alone are an address or nothing. */
export const isHost = (text: string): boolean =>
  isIP(text) !== 0 || (/^[a-z\d]([a-z\d.-]*[a-z\d])?$/i.test(text) && !/^[\d.]+$/.test(text))
/**
 * The obstacle to a folder: a file at its path or a parent's, or a parent that may not be entered.
 */
export function folderProblem(folder: string): 'file' | 'closed' | undefined {
  try {
    const found = statSync(folder, { throwIfNoEntry: false })
    if (found) return found.isDirectory() ? undefined : 'file'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOTDIR' ? 'file' : 'closed'
  }
  return path.dirname(folder) === folder ? undefined : folderProblem(path.dirname(folder))
}
export const portNumber = (name: string) =>
  z
    .string()
    .refine(
      (text) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535,
      `${name} must be a port from 1 to 65535.`,
    )
export const port = (name: string, fallback: number) =>
  portNumber(name).default(String(fallback)).transform(Number)
export const portOrOff = (name: string) =>
  z.union([
    z.literal('off', { error: `${name} must be off, or a port from 1 to 65535.` }),
    portNumber(name).transform(Number),
  ])
export const address = (name: string) =>
  z
    .string()
    .refine(
      (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
      `${name} must be an http or https address.`,
    )
/** A URL of libpq, which may name several hosts. */
export const databaseAddress = (name: string) =>
  z
    .string()
    .refine(
      (text) => /^postgres(ql)?:\/\//.test(text),
      `${name} must begin with postgres:// or postgresql://.`,
    )
    .refine(
      isDatabaseAddress,
      `${name} is no address: write # / ? @ : and % in its password as %23 %2F %3F %40 %3A %25.`,
    )
    .superRefine((text, context) => {
      if (!isDatabaseAddress(text)) return
      const { searchParams } = new URL(readDatabaseAddress(text).connectionString)
      for (const param of ['sslrootcert', 'sslcert', 'sslkey']) {
        const file = searchParams.get(param)
        if (file !== null && !isReadable(file))
          context.addIssue(`${name}: ${file} (${param}) cannot be read.`)
      }
    })
function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
}
function isDatabaseAddress(text: string): boolean {
  try {
    const { hosts, connectionString } = readDatabaseAddress(text)
    return new URL(connectionString).hash === '' && hosts.every(({ port }) => port < 65_536)
  } catch {
    return false
  }
}
export const wholeNumber = (name: string, least: number, most: number, fallback: number) =>
  z
    .string()
    .default(String(fallback))
    .refine(
      (text) => /^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most,
      `${name} must be a number from ${least} to ${most}.`,
    )
    .transform(Number)
export const base64url = (name: string) =>
  z.string().regex(/^[\w-]+=*$/, `${name} must be base64url: letters, digits, - and _.`)
/** A whole number from 1 to 99 999. */
export const count = (name: string, fallback: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,4}$/, `${name} must be a number from 1 to 99999.`)
    .default(String(fallback))
    .transform(Number)
export const choice = <const T extends readonly [string, ...string[]]>(
  name: string,
  values: T,
  fallback: T[number],
) =>
  z
    .enum(values, { error: `${name} must be one of: ${values.join(', ')}.` })
    .default(fallback as never)

/** The items of a comma-separated list. */
export const listed = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
export const addressList = (name: string, ports: boolean) =>
  z
    .string()
    .default('')
    .transform(listed)
    .refine(
      (all) =>
        all.every(
          (one) =>
            isIP(
              ports ? one.replace(/^\[(.+)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1') : one,
            ) !== 0,
        ),
      `${name} must be addresses${ports ? ', each with an optional port' : ''}, with commas ` +
        'between them.',
    )
export const defaultNameServers = 'ns[1-64].letspanel-dns.example'
/** `ns[1-3].x` is ns1.x, ns2.x and ns3.x. */
export const nameServersOf = (text: string): string[] =>
  listed(text.toLowerCase()).flatMap((one) => {
    const range = /^([^[\]]*)\[(\d{1,3})-(\d{1,3})\]([^[\]]*)$/.exec(one)
    if (!range) return [one.replace(/\.$/, '')]
    const [, before = '', first, last, after = ''] = range
    return Array.from(
      { length: Math.max(0, Number(last) - Number(first) + 1) },
      (_, index) => `${before}${Number(first) + index}${after}`,
    )
  })

/** `name=value,name=value` to headers, the values decoded (OpenTelemetry's way to write them). */
export const headersOf =
  (name: string) =>
  (text: string, { addIssue }: z.RefinementCtx): Readonly<Record<string, string>> => {
    const headers: Record<string, string> = {}
    for (const one of listed(text)) {
      const [, header, value] = /^([!#$%&'*+.^`|~\w-]+)\s*=\s*([\x20-\x7e]*)$/.exec(one) ?? []
      try {
        if (header === undefined || value === undefined) throw new Error('no header')
        headers[header] = decodeURIComponent(value)
      } catch {
        addIssue(`${name} must be name=value, with commas between several.`)
        return z.NEVER
      }
    }
    return headers
  }

/**
 * A machine's roles. The parent opens: for `node` the sites' runtime and edge, for `dns` the name
 * server's process, for `api` and `worker` the portal's processes.
 */
export const everyRole = ['api', 'worker', 'dns', 'node'] as const
export type Role = (typeof everyRole)[number]

export const hostAndPort = (name: string) =>
  z.string().refine((text) => {
    const parts = readHostAndPort(text)
    return parts !== undefined && isHost(parts.host)
  }, `${name} must be a host and a port, such as 10.0.0.2:7443.`)
export const isAddressAndPort = (text: string): boolean =>
  isIP(readHostAndPort(text)?.host ?? '') !== 0

/** Zero in every currency, minor units. */
export const noAmounts: Readonly<Record<Currency, bigint>> = { VND: 0n, AUD: 0n, USD: 0n, EUR: 0n }
/**
 * Reads amounts such as `5000000 VND, 300 AUD` into minor units; undefined when the text is not
 * such a list.
 */
export function amountsOf(text: string): Readonly<Record<Currency, bigint>> | undefined {
  const amounts = { ...noAmounts }
  for (const part of text.split(',')) {
    const [number = '', code, ...more] = part.trim().split(/\s+/)
    const currency = currencies.find((one) => one === code)
    const minor = currency && toMinor(number, currency)
    if (currency === undefined || minor === undefined || more.length > 0) return undefined
    amounts[currency] = BigInt(minor)
  }
  return amounts
}
