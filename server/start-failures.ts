/**
 * Why the portal did not start, in one sentence for the operator. Sources: PostgreSQL's SQLSTATE
 * list, errno(3).
 */
export function whyNotStarted(error: unknown): string {
  const { code, syscall, port, address, message } = error as NodeJS.ErrnoException & {
    port?: number
    address?: string
  }
  switch (code ?? '') {
    case 'EADDRINUSE':
      return (
        `Port ${port} is taken. Stop what listens there, or set another port (PORT, ` +
        'SANDBOX_PORT, SITES_PORT, DNS_PORT).'
      )
    case 'EADDRNOTAVAIL':
      return `HOST ${address ?? ''} is no address of this machine.`.replace('  ', ' ')
    case 'EACCES':
      if (syscall === 'listen' || syscall === 'bind')
        return `Port ${port} may not be listened on by this user.`
      return `A file or folder may not be used by this user: ${message}`
    case '28P01':
    case '28000':
      // The error of pg_hba.conf for a connection without TLS.
      if (isTlsFailure(code, message)) return withoutTls(message)
      return `DATABASE_URL: the database server does not accept this user or password: ${message}`
    case '3D000':
      return `DATABASE_URL: ${message}`
    case '42501':
      return (
        `DATABASE_URL: its user may not create tables there (${message}). Make it the owner of ` +
        'the database.'
      )
    case '55P03':
      return (
        'A migration could not change a table, which was in use for ten minutes. The log of the ' +
        'database, or pg_stat_activity, says by whom: end that, and start again.'
      )
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
      return `DATABASE_URL: the database server cannot be reached: ${message}`
  }
  if (untrusted.has(code ?? ''))
    return (
      'DATABASE_URL: the certificate of the database server is not signed by an authority that ' +
      `is trusted here: name the file of its certificate with sslrootcert (${message}).`
    )
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return (
      'DATABASE_URL: the certificate of the database server is for another name: use the name ' +
      `that stands in it (${message}).`
    )
  if (isTlsFailure(code, message)) return withoutTls(message)
  return error instanceof Error ? error.message : String(error)
}

/** OpenSSL's reasons for a chain without a trusted root. */
const untrusted = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])
const isTlsFailure = (code: string | undefined, message: string | undefined): boolean =>
  /does not support SSL|no encryption|SSL off/i.test(message ?? '') ||
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(code ?? '')

const withoutTls = (message: string): string =>
  `DATABASE_URL: no TLS connection to the database server (sslmode): ${message}`

/** Prints the faults on stderr. */
export function printFaults(faults: readonly string[]): void {
  process.stderr.write(
    `The portal does not start:\n${faults.map((fault) => `  - ${fault}`).join('\n')}\n`,
  )
}
