/**
 * A Chromium for tests and benchmarks: the machine's own if it has one, otherwise the one in an npm
 * package.
 */
import { existsSync } from 'node:fs'

/** The headless build comes first: the same engine for two thirds of the CPU time. */
const known = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Path of the executable. */
export async function browserPath() {
  const given = process.env.CHROMIUM_PATH
  if (given) return given
  const installed = known.find((file) => existsSync(file))
  if (installed) return installed
  const { default: chromium } = await import('@sparticuz/chromium')
  return await chromium.executablePath()
}

/**
 * No sandbox, because it cannot work as root. The other flags keep Chromium from using the
 * internet.
 */
export const browserArguments = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
]
