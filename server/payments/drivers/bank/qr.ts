/**
 * The text of a VietQR code: EMVCo merchant-presented QR as NAPAS 247 uses it. Every part is an id,
 * a length in two digits and a value; the last one is a CRC. ASCII only, so that characters are
 * bytes.
 */

/** CRC-16/CCITT-FALSE: polynomial 0x1021, begins with 0xFFFF. `123456789` gives 29B1. */
export function crc16(text: string): string {
  let crc = 0xffff
  for (const byte of Buffer.from(text, 'latin1')) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return crc.toString(16).toUpperCase().padStart(4, '0')
}

const part = (id: string, value: string): string => {
  if (!/^[\x20-\x7e]{1,99}$/.test(value))
    throw new RangeError(`part ${id} of a QR code takes 1 to 99 ASCII characters`)
  return id + String(value.length).padStart(2, '0') + value
}

/**
 * Builds the VietQR payload. `amount` in đồng; without it the customer types the amount. Throws
 * RangeError for values that the code cannot hold.
 */
export function vietQr(of: {
  readonly bin: string
  readonly account: string
  readonly service?: 'QRIBFTTA' | 'QRIBFTTC'
  readonly amount?: bigint
  readonly content?: string
}): string {
  const beneficiary = part('00', of.bin) + part('01', of.account)
  const text = [
    part('00', '01'),
    part('01', of.amount === undefined ? '11' : '12'),
    part(
      '38',
      part('00', 'A000000727') + part('01', beneficiary) + part('02', of.service ?? 'QRIBFTTA'),
    ),
    part('53', '704'),
    ...(of.amount === undefined ? [] : [part('54', String(of.amount))]),
    part('58', 'VN'),
    ...(of.content === undefined ? [] : [part('62', part('08', of.content))]),
    '6304',
  ].join('')
  return text + crc16(text)
}
