/** What the name server's process needs of the drivers, and none of what the others load. */
export { createEmbedded } from './embedded/index.ts'
export { passOnToNameServer, serveNameServer } from './remote/index.ts'
