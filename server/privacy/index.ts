/** Personal data: what is stored of a person, and what they get of it (decision 115). */
export { decidedLetter, receivedLetter } from './letter.ts'
export {
  countOpenRequests,
  decideRequest,
  dropOldRequests,
  overdueRequests,
  receiveRequest,
  requestsOfDesk,
} from './requests.ts'
export { routes } from './routes.ts'
