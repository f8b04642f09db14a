const hostedPath = /^\/invoice\/hosted\/([^/?#]+)$/

/** The token in the path of an invoice's page; undefined: it is no page of ours. */
export function hostedToken(pathname: string): string | undefined {
  const token = hostedPath.exec(pathname)?.[1]
  return token === undefined ? undefined : decodeURIComponent(token)
}
