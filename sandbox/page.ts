/**
 * The sandbox's pages: one layout, one style sheet, one small script. Nothing is inline, so that
 * the content policy can be strict.
 */
import { readFileSync } from 'node:fs'
import type { Reply, Routes } from './http.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
export const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => entities[char] ?? char)

/** Đồng, grouped as in Vietnam. */
export const dong = (amount: bigint): string =>
  `${amount.toString().replace(/\B(?=(\d{3})+$)/g, '.')}\u00a0đ`

/** A time as shown in Vietnam. */
export const vietnamTime = (date: Date): string =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone: 'Asia/Ho_Chi_Minh',
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(date)

export interface Page {
  readonly title: string
  readonly language: 'en' | 'vi'
  /** HTML, already escaped. */
  readonly main: string
  /** Seconds after which the page refreshes itself. */
  readonly refreshSeconds?: number
  /** Another origin to which a form of this page may lead. */
  readonly formOrigin?: string
  readonly status?: number
  readonly look?: string
}

/** A whole page with its security headers. */
export function page(of: Page): Reply {
  const refresh =
    of.refreshSeconds === undefined
      ? ''
      : `<noscript><meta http-equiv="refresh" content="${of.refreshSeconds}"></noscript>`
  const every = of.refreshSeconds === undefined ? '' : ` data-refresh="${of.refreshSeconds}"`
  // Browsers check form-action on every redirect, so the merchant's own address must be listed.
  const policy =
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src " +
    `'self'; form-action 'self' ${of.formOrigin ?? ''}; base-uri 'none'; frame-ancestors 'none'`
  return {
    status: of.status ?? 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy,
    },
    body: `<!doctype html>
<html lang="${of.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escape(of.title)}</title>
<link rel="icon" href="/assets/sandbox.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/sandbox.css">
${refresh}
<script src="/assets/sandbox.js" defer></script>
</head>
<body class="${of.look ?? 'plain'}"${every}>
${of.main}
</body>
</html>
`,
  }
}

const types = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' } as const

/** The files that the pages need, read once. */
export function assetRoutes(): Routes {
  return Object.fromEntries(
    Object.entries(types).map(([kind, type]) => {
      const body = readFileSync(new URL(`assets/sandbox.${kind}`, import.meta.url))
      return [
        `GET /assets/sandbox.${kind}`,
        (): Reply => ({
          status: 200,
          headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'max-age=300' },
          body,
        }),
      ]
    }),
  )
}
