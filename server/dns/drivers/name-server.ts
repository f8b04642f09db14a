/** The drivers that the name server's process needs, without loading the other ones. */
export { createEmbedded } from './embedded/index.ts'
export { passOnToNameServer, serveNameServer } from './remote/index.ts'
