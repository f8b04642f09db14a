// The folders of a site's content. One folder holds them all, so that one rename exchanges the
// whole content.
import path from 'node:path'
import type { SitePlaces } from './archive.ts'

/**
 * SQLite's file lies in WordPress's folder, where PHP opens it. The disk that an engine mounts for
 * a database lies beside that folder, out of PHP's reach.
 */
export const placesIn = (content: string, engine: object | null): SitePlaces =>
  engine
    ? { filesDir: path.join(content, 'files'), databaseDir: path.join(content, 'database') }
    : { filesDir: content, databaseDir: path.join(content, 'wp-content', 'database') }
