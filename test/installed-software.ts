/** Plugins and themes as the owner of a simulated site would install them. */
import fs from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pluginMain, releases } from '../sandbox/wordpress/releases.ts'

/** Puts a release of the sandbox into a site's folder and activates it, as wp-admin would. */
export function installRelease(siteFolder: string, slug: string, version: string): void {
  const release = releases.find((one) => one.slug === slug && one.version === version)
  if (!release) throw new Error(`no release ${slug} ${version}`)
  const content = path.join(siteFolder, 'wordpress', 'wp-content')
  for (const { name, content: text } of release.files()) {
    const file = path.join(content, release.kind === 'plugin' ? 'plugins' : 'themes', name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, text)
  }
  const database = new DatabaseSync(path.join(content, 'database', '.ht.sqlite'), {
    timeout: 10_000,
  })
  try {
    const [name, value] =
      release.kind === 'plugin'
        ? ['active_plugins', JSON.stringify([pluginMain])]
        : ['stylesheet', slug]
    database.prepare('insert or replace into wp_options values (?, ?)').run(name, value)
  } finally {
    database.close()
  }
}
