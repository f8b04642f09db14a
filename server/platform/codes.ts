/** Codes that people type: of vouchers and of coupons. */
import { randomInt } from 'node:crypto'

/** Without letters that are taken for digits. */
const signs = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const drawnLength = 16
/** Shorter ones are guessed. */
export const shortestCode = 4

/** As a person may type it: in any case, with signs between. */
export const plainCode = (text: string): string => text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')

/** Sixteen signs of thirty-two: 80 bits. */
export const drawCode = (): string =>
  Array.from({ length: drawnLength }, () => signs[randomInt(signs.length)]).join('')
