/** The storefront: the public data before a sign-in, and the pages themselves. */
export { servePages } from './pages.ts'
export { placeOf, printedPlace } from './places.ts'
export { publicConfig } from './public-config.ts'
export { routes } from './routes.ts'
export { brandOf } from './brand.ts'
