// Where a site's content lies. One folder holds it, so that one rename exchanges it whole.
import path from 'node:path'
import type { SitePlaces } from './archive.ts'

/**
 * SQLite's file is one of WordPress's folder, where PHP opens it. The disk that an engine mounts
 * for a database lies beside that folder, out of PHP's reach.
 */
export const placesIn = (content: string, engine: object | null): SitePlaces =>
  engine
    ? { filesDir: path.join(content, 'files'), databaseDir: path.join(content, 'database') }
    : { filesDir: content, databaseDir: path.join(content, 'wp-content', 'database') }
