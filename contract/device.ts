/**
 * Reads a recognisable browser and system from a user agent. This is a guess to tell sessions
 * apart, never proof.
 */

// Later browsers in this list also appear in the user agents of earlier ones, so the order matters.
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
