/**
 * A Chromium for tests and benchmarks: the machine's own where it has one, else the one that an npm
 * package carries.
 */
import { existsSync } from 'node:fs'

/** The headless build first: the same engine for two thirds of the processor. */
const known = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Path of an executable. */
export async function browserPath() {
  const given = process.env.CHROMIUM_PATH
  if (given) return given
  const installed = known.find((file) => existsSync(file))
  if (installed) return installed
  const { default: chromium } = await import('@sparticuz/chromium')
  return await chromium.executablePath()
}

/** No sandbox: it cannot work as root. The rest keeps Chromium from asking the internet. */
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
