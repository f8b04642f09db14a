/** What is stored of a person, and what they are given of it (decision 115). */
export { routes } from './routes.ts'
