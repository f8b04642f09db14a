/** The storefront: what everybody may see before signing in, and the pages themselves. */
export { servePages } from './pages.ts'
export { placeOf, printedPlace } from './places.ts'
export { publicConfig } from './public-config.ts'
export { routes } from './routes.ts'
export { brandOf } from './brand.ts'
