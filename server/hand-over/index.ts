/** A server or domain goes to another customer, who accepts (decision 108). */
export { dropOldOffers, forgetOffers, takeBackOffers } from './offers.ts'
export { routes } from './routes.ts'
