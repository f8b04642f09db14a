/** Security headers of pages: what a page may load and call, and which pages may frame it. */
import type { FastifyHelmetOptions } from '@fastify/helmet'

/**
 * `cardForm`: the origins of the card provider's own script and frames. Card numbers are typed
 * there and never reach a page of ours.
 */
export function pageProtection(
  portalUrl: string,
  cardForm: { scripts: readonly string[]; frames: readonly string[]; calls: readonly string[] } = {
    scripts: [],
    frames: [],
    calls: [],
  },
): FastifyHelmetOptions {
  return {
    // Plain http on a laptop: neither an upgrade of requests nor HSTS.
    strictTransportSecurity: portalUrl.startsWith('https:') ? { maxAge: 31_536_000 } : false,
    crossOriginEmbedderPolicy: false,
    // The same as frame-ancestors, for browsers that know only this.
    xFrameOptions: { action: 'deny' },
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'", ...cardForm.scripts],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:'],
        fontSrc: ["'self'"],
        connectSrc: ["'self'", portalUrl.replace(/^http/, 'ws'), ...cardForm.calls],
        frameSrc: ["'self'", ...cardForm.frames],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
  }
}
