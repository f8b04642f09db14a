/**
 * A browser and a system that people recognise, read from a user agent; a guess to tell sessions
 * apart, never proof.
 */

// Each names those before it in its own user agent, so the order decides.
const browsers: readonly [string, RegExp][] = [
  ['Edge', /\bEdgA?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Cốc Cốc', /\bcoc_coc_browser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Headless)?(?:Chrome|CriOS)\//],
  ['Safari', /\bVersion\/[\d.]+ .*Safari\//],
]
const systems: readonly [string, RegExp][] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows NT\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
]

const named = (names: readonly [string, RegExp][], userAgent: string): string | undefined =>
  names.find(([, pattern]) => pattern.test(userAgent))?.[0]

export const deviceOf = (
  userAgent: string,
): { browser: string | undefined; system: string | undefined } => ({
  browser: named(browsers, userAgent),
  system: named(systems, userAgent),
})
