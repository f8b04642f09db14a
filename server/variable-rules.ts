/** What a variable of the environment may say: the rules that several of them share. */
import { statSync } from 'node:fs'
import { isIP } from 'node:net'
import path from 'node:path'
import * as z from 'zod'

export const blankMeansFault = (name: string) =>
  z
    .string()
    .refine((text) => text.trim() !== '', `${name} is set but empty: give it a value or remove it.`)
/** Digits and dots alone are an address or nothing. */
export const isHost = (text: string): boolean =>
  isIP(text) !== 0 || (/^[a-z\d]([a-z\d.-]*[a-z\d])?$/i.test(text) && !/^[\d.]+$/.test(text))
/**
 * What hinders a folder: a file in the way of it or of a parent, or a parent that may not be
 * entered.
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
export const address = (name: string) =>
  z
    .string()
    .refine(
      (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
      `${name} must be an http or https address.`,
    )
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

/** What stands between commas. */
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
