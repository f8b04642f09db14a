/** Why the portal did not start, in one sentence for the operator. */
export function whyNotStarted(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'EADDRINUSE')
    return `Port ${(error as { port?: number }).port} is taken. Stop what listens there, or set another port (PORT, SANDBOX_PORT, SITES_PORT, DNS_PORT).`
  if (code === 'EACCES' && (error as { syscall?: string }).syscall === 'listen')
    return `Port ${(error as { port?: number }).port} may not be listened on by this user.`
  if (code === 'ECONNREFUSED' || code === '28P01' || code === '3D000' || code === 'ENOTFOUND')
    return `The database (DATABASE_URL) does not take us: ${(error as Error).message}`
  return error instanceof Error ? error.message : String(error)
}

/** Tells them, on stderr. */
export function tellFaults(faults: readonly string[]): void {
  process.stderr.write(`The portal does not start:\n${faults.map((fault) => `  - ${fault}`).join('\n')}\n`)
}
