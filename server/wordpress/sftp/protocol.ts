/** Constants of SFTP, version 3 (draft-ietf-secsh-filexfer-02). */
export const status = {
  ok: 0,
  eof: 1,
  noSuchFile: 2,
  permissionDenied: 3,
  failure: 4,
  unsupported: 8,
} as const
export type Status = (typeof status)[keyof typeof status]

export const openFlags = { read: 1, write: 2, append: 4, create: 8, truncate: 16, exclusive: 32 }

/** Types of file in a mode, as POSIX has them. */
export const modes = { file: 0o100644, folder: 0o040755, link: 0o120777, other: 0o010000 } as const

/** A request that cannot be done, with the message for the client. */
export class SftpFault extends Error {
  readonly status: Status
  constructor(code: Status, message: string) {
    super(message)
    this.status = code
  }
}
