/**
 * Programs of this folder that run confined, each for one copy or one owner. They are started as
 * one bundled file (scripts/server-bundle.ts), from sources too: it starts in a sixth of the time,
 * and is all of a release that such a process may read.
 */
import path from 'node:path'

const release = path.resolve(import.meta.dirname, '../../../..')

/** What is started, and the folder that it is started in. */
export const confinedProgram = (name: 'archive-process' | 'files-process') => ({
  file: path.join(release, 'dist', 'server', `${name}.js`),
  cwd: release,
})
