/**
 * A project's name becomes a host name's label: lower-case letters, digits and '-', as RFC 1123 has
 * it.
 */
export const isProjectName = (name: string): boolean =>
  /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)

/** An https address with a path of at least owner and repository. */
export function isRepositoryAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, pathname, username, password } = new URL(text)
  return (
    protocol === 'https:' &&
    hostname.includes('.') &&
    username === '' &&
    password === '' &&
    /^\/[^/]+\/[^/]+/.test(pathname)
  )
}
