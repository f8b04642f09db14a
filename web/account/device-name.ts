import { deviceOf } from '../../contract/device.ts'
import { useTexts } from '../i18n/index.ts'

/** "Chrome on Windows", as far as the user agent tells. */
export function useDeviceName(): (userAgent: string | null) => string {
  const t = useTexts('account').account
  return (userAgent) => {
    const { browser, system } = deviceOf(userAgent ?? '')
    if (browser !== undefined && system !== undefined) return t.onSystem(browser, system)
    return browser ?? system ?? t.unknownDevice
  }
}
