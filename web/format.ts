/**
 * How numbers, money and times are written. Pure; the hook at the end binds them to the active
 * language.
 */
import { useMemo } from 'react'
import { formatMoney, type Currency } from '../contract/money.ts'
import { useLanguage, type Language } from './i18n/index.ts'

const two = (number: number): string => String(number).padStart(2, '0')

/**
 * The time zone that the customer chose, and how to write a time in it as `formatTime` does, where
 * it is not the browser's. Set by time-zone.ts.
 */
export const chosenZone: { name: string | null; write: ((date: Date) => string) | undefined } = {
  name: null,
  write: undefined,
}

/** yyyy-MM-dd HH:mm:ss in the customer's chosen time zone, or else the browser's. */
export function formatTime(when: Date | number | string): string {
  const date = new Date(when)
  return (
    chosenZone.write?.(date) ??
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
      `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  )
}

/** yyyy-MM-dd, in the same zone. */
export const formatDay = (when: Date | number | string): string => formatTime(when).slice(0, 10)

/** A duration in minutes and seconds, with hours where there are any. */
export function formatElapsed(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const hours = Math.floor(whole / 3600)
  const rest = `${two(Math.floor((whole % 3600) / 60))}:${two(whole % 60)}`
  return hours > 0 ? `${hours}:${rest}` : rest
}

export const decimals = (value: number, language: Language): string => {
  const text = String(Math.round(value * 10) / 10)
  return language === 'vi' ? text.replace('.', ',') : text
}
/** 1000 MB of memory are 1 GB. */
export const ramGb = (mb: number, language: Language): string => decimals(mb / 1000, language)
/** 1024 MB of disk are 1 GB. */
export const diskGb = (mb: number, language: Language): string => decimals(mb / 1024, language)

/** Money with + or −, for amounts that came in or went out. */
export const signedMoney = (amount: number, currency: Currency, language: Language): string =>
  (amount > 0 ? '+' : '') + formatMoney(amount, currency, language)

export function useFormat() {
  const language = useLanguage()
  return useMemo(
    () => ({
      money: (amount: number, currency: Currency) => formatMoney(amount, currency, language),
      signed: (amount: number, currency: Currency) => signedMoney(amount, currency, language),
      ram: (mb: number) => ramGb(mb, language),
      disk: (mb: number) => diskGb(mb, language),
      /** A size with its unit: below 1 GB in MB. */
      ramSize: (mb: number) => (mb < 1000 ? `${mb} MB` : `${ramGb(mb, language)} GB`),
      diskSize: (mb: number) => (mb < 1024 ? `${mb} MB` : `${diskGb(mb, language)} GB`),
      language,
    }),
    [language],
  )
}
