/** A server or domain goes to another customer, who accepts (decision 108). */
export { dropOldOffers, forgetOffers } from './offers.ts'
export { routes } from './routes.ts'
