/** SFTP to the files of servers. */
export { hostKeyOf } from './host-key.ts'
export { endKeysSince } from './keys.ts'
export { sftpRoutes } from './routes.ts'
export { createSftp, type SftpServer } from './server.ts'
