import { plainText } from '../../contract/fold.ts'

/**
 * The operator's name at the beginning of an SMS: `Let's Panel: `. It contains only characters that
 * every carrier passes on: no brackets, which cost two places and are dropped from brand messages.
 * Empty if no character of the name remains.
 */
export function smsPrefix(brand: string): string {
  const name = plainText(brand)
    .replace(/[^ -~]|[\^{}[\]~\\|]/g, '')
    .trim()
  return name === '' ? '' : `${name}: `
}
