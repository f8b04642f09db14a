/** Runs before every test file: a transaction that asks for a second connection fails its test. */
import { watchForSecondConnections } from '../server/platform/db.ts'

watchForSecondConnections()
