/**
 * Programs of this folder that run confined, each for one copy or one owner. They start from one
 * bundled file (scripts/server-bundle.ts), even in a checkout: that starts in a sixth of the time,
 * and is the only part of a release that such a process may read.
 */
import path from 'node:path'

const release = path.resolve(import.meta.dirname, '../../../..')

/** The program's file, and the folder that it is started in. */
export const confinedProgram = (name: 'archive-process' | 'files-process') => ({
  file: path.join(release, 'dist', 'server', `${name}.js`),
  cwd: release,
})
