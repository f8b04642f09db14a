/**
 * WordPress as in most tests: the embedded driver with a stand-in for PHP, which boots in a
 * twentieth of a second (runtimes/wordpress-wasm/simulated.js).
 */
import fs from 'node:fs'
import path from 'node:path'
import { defaultRuntimeDir } from '../scripts/wordpress-files.mjs'
import type { WordpressFiles } from '../server/wordpress/drivers/index.ts'

/** Faults that a test may request of the stand-in. */
export interface SimulatedFaults {
  /** Delay until a container answers, ms. */
  readonly bootMs?: number
  /** Delay of every page, ms. */
  readonly answerMs?: number
  /** The container ends after it has installed WordPress, before it reports that. */
  readonly diesInstalled?: boolean
}

const files: Readonly<Record<string, string>> = {
  'index.php': '<?php\n',
  'wp-login.php': '<?php\n',
  'wp-cron.php': '<?php\n',
  'wp-config.php': '<?php\n',
  'wp-admin/index.php': '<?php\n',
  'wp-admin/profile.php': '<?php\n',
  'wp-admin/install.php': '<?php\n',
  'wp-admin/admin-ajax.php': '<?php\n',
  'wp-content/index.php': '<?php\n',
  'wp-content/themes/simulated/style.css': '/*\nTheme Name: Simulated\nVersion: 1.0\n*/\n',
  'wp-includes/version.php': "<?php\n$wp_version = '7.1.1';\n$wp_db_version = 61833;\n",
  'wp-load.php': '<?php\n',
  'wp-includes/css/dashicons.min.css': '.dashicons{display:inline-block}\n',
  // Large enough to nearly fill a disk.
  'wp-includes/fonts.bin': '\0'.repeat(8 * 1_048_576),
  'readme.html': '<!DOCTYPE html><title>WordPress</title>\n',
}

/**
 * The parts of a driver whose sites are made from the files that `simulatedWordpress` put into
 * `folder`.
 */
export const simulatedFilesIn = (folder: string): WordpressFiles => ({
  program: 'simulated.js',
  runtimeDir: defaultRuntimeDir,
  filesDir: path.join(folder, 'wordpress-simulated'),
})

/** Writes the files of a simulated site into `folder`; returns the driver's parts. */
export function simulatedWordpress(folder: string, faults: SimulatedFaults = {}): WordpressFiles {
  const parts = simulatedFilesIn(folder)
  const { filesDir } = parts
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(filesDir, 'wp', name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, text)
  }
  const plugin = path.join(filesDir, 'sqlite-database-integration')
  fs.mkdirSync(plugin, { recursive: true })
  fs.writeFileSync(path.join(plugin, 'faults.json'), JSON.stringify(faults))
  fs.writeFileSync(path.join(filesDir, '.complete'), '')
  return parts
}
