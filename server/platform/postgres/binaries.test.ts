import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { locateBinaries, packageFolder } from './binaries.ts'

const isRoot = process.getuid?.() === 0
const nobody = { uid: 65_534, gid: 65_534 }

test.runIf(isRoot)('PostgreSQL runs from a clone that only root may enter', () => {
  const here = mkdtempSync(path.join(os.tmpdir(), 'closed-clone-'))
  const { folder, version } = packageFolder()
  // With the umask that the portal sets at its start.
  const before = process.umask(0o077)
  try {
    chmodSync(here, 0o711)
    const clone = path.join(here, 'clone')
    execFileSync('mkdir', ['-m', '700', clone])
    execFileSync('cp', ['-r', path.join(folder, 'native'), clone])
    const { postgres } = locateBinaries(here, nobody, { folder: clone, version })
    expect(postgres.startsWith(path.join(here, 'pgsql-'))).toBe(true)
    const said = execFileSync(postgres, ['--version'], { ...nobody, cwd: '/', encoding: 'utf8' })
    expect(said).toMatch(/^postgres \(PostgreSQL\) \d+/)
  } finally {
    process.umask(before)
    rmSync(here, { recursive: true, force: true })
  }
})
