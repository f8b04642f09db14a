/** Hand-over of a server or domain to another customer, who accepts (decision 108). */
export { forgetOffers } from './forget.ts'
export { dropOldOffers, takeBackOffers } from './offers.ts'
export { routes } from './routes.ts'
export { titles } from './titles.ts'
