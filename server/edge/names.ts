/** A Host header as the host name that sites are found by. */
export const nameOf = (host: string): string =>
  host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
