/** The version of the code that this process runs. */
import { readFileSync } from 'node:fs'
import path from 'node:path'

export const { version } = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../package.json'), 'utf8'),
) as { version: string }
