/** Codes that people type, for vouchers and coupons. */
import { randomInt } from 'node:crypto'

/** Letters and digits that are not mistaken for each other. */
const signs = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const drawnLength = 16
/** Shorter ones are guessed. */
export const shortestCode = 4

/** Normalizes a typed code: upper case, without separators. */
export const plainCode = (text: string): string => text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')

/** Sixteen signs of thirty-two: 80 bits. */
export const drawCode = (): string =>
  Array.from({ length: drawnLength }, () => signs[randomInt(signs.length)]).join('')
