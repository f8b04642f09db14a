/** Reads a VietQR code's text, as a banking app does: parts of id, length, value. */

function parts(text: string): Map<string, string> | undefined {
  const found = new Map<string, string>()
  for (let at = 0; at < text.length;) {
    const length = Number(text.slice(at + 2, at + 4))
    const value = text.slice(at + 4, at + 4 + length)
    if (!Number.isInteger(length) || value.length !== length) return undefined
    found.set(text.slice(at, at + 2), value)
    at += 4 + length
  }
  return found
}

/**
 * Reads a VietQR code; undefined when it is none. The CRC is not checked, because a camera has
 * already done so.
 */
export function readQr(
  text: string,
): { account: string; amount: string; content: string } | undefined {
  const all = parts(text)
  const beneficiary = parts(parts(all?.get('38') ?? '')?.get('01') ?? '')
  const account = beneficiary?.get('01')
  if (all?.get('00') !== '01' || account === undefined) return undefined
  return {
    account,
    amount: all.get('54') ?? '',
    content: parts(all.get('62') ?? '')?.get('08') ?? '',
  }
}
