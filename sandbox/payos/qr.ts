/**
 * The text of a VietQR code (EMVCo merchant-presented, NAPAS 247): tag, two-digit length, value; a
 * CRC at the end.
 */

const part = (tag: string, value: string): string =>
  `${tag}${String(value.length).padStart(2, '0')}${value}`

/** CRC-16/CCITT-FALSE, four upper hex digits. */
function crc16(text: string): string {
  let crc = 0xffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return crc.toString(16).toUpperCase().padStart(4, '0')
}

/** A transfer to an account; amount in đồng; the content has only letters, digits and spaces. */
export function vietQr(to: {
  bin: string
  account: string
  amount: bigint
  content: string
}): string {
  const bank = part('00', to.bin) + part('01', to.account)
  const text = [
    part('00', '01'),
    part('01', '12'),
    part('38', part('00', 'A000000727') + part('01', bank) + part('02', 'QRIBFTTA')),
    part('53', '704'),
    part('54', to.amount.toString()),
    part('58', 'VN'),
    part('62', part('08', to.content)),
    '6304',
  ].join('')
  return text + crc16(text)
}
