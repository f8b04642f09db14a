// A node that no portal was in touch with for too long: its sites are read, and nothing is written.
import { mayWrite } from './write-hold.ts'

export interface EdgeFence {
  /** The site came up on another node: nothing here answers for it. */
  withholds(site: string): boolean
  /** The site takes no write. */
  isUp(site: string): boolean
}

/** Scripts that write whatever the method is, and readers have no use for. */
const writing = /^\/+(?:wp-admin(?:\/|$)|(?:wp-cron|wp-login|xmlrpc|wp-comments-post)\.php)/i

/** Below a folder of a network of sites, too. */
const inFolder = /\/(?:wp-admin\/|(?:wp-cron|wp-login|xmlrpc)\.php)/i

/** Whether a request may change something, by its method or by what WordPress does at its path. */
export function mayChange(
  request: {
    readonly method?: string | undefined
    readonly headers: NodeJS.Dict<string | string[]>
  },
  path: string,
): boolean {
  if (mayWrite(request.method)) return true
  const [at = '', query = ''] = path.split('?', 2)
  let plain = at
  try {
    plain = decodeURIComponent(at)
  } catch {
    return true
  }
  // WordPress takes another method from either.
  const asks =
    request.headers['x-http-method-override'] !== undefined || /(?:^|&)_method(?:=|%)/i.test(query)
  return asks || writing.test(plain) || inFolder.test(plain)
}
