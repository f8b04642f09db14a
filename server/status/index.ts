/** The operator's public notices: announcements, incidents, maintenance (decision 105). */
export { createClosure } from './closure.ts'
export { addUpdate, end, publish } from './notices.ts'
export { routes } from './routes.ts'
