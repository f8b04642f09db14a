// What a simulated site has installed, and the effects of its active plugins, read from the same
// files that WordPress would run.
import fs from 'node:fs'
import path from 'node:path'

const headOf = (file) => {
  try {
    return fs.readFileSync(file, 'utf8').slice(0, 8_192)
  } catch {
    return ''
  }
}
const namesIn = (dir) => {
  try {
    return fs.readdirSync(dir).filter((name) => !name.startsWith('.'))
  } catch {
    return []
  }
}
const header = (text, name) =>
  new RegExp(`^(?:<\\?php)?[ \\t/*#@]*${name}:(.*)$`, 'mi').exec(text)?.[1].trim() ?? ''

function pluginFiles(siteDir) {
  const dir = path.join(siteDir, 'wp-content', 'plugins')
  return namesIn(dir).flatMap((name) =>
    fs.statSync(path.join(dir, name)).isDirectory()
      ? namesIn(path.join(dir, name)).map((file) => `${name}/${file}`)
      : [name],
  )
}

/** Like list-software.php. `active`: files of active plugins; `theme`: the active one. */
export function listSoftware(siteDir, { active, theme }) {
  const dir = (name) => path.join(siteDir, 'wp-content', name)
  const plugins = pluginFiles(siteDir).flatMap((file) => {
    const head = file.endsWith('.php') ? headOf(path.join(dir('plugins'), file)) : ''
    const name = header(head, 'Plugin Name')
    return name === ''
      ? []
      : [
          {
            file,
            name,
            version: header(head, 'Version'),
            active: active.includes(file),
            updateUri: header(head, 'Update URI'),
          },
        ]
  })
  const themes = namesIn(dir('themes')).flatMap((slug) => {
    const head = headOf(path.join(dir('themes'), slug, 'style.css'))
    const name = header(head, 'Theme Name')
    return name === ''
      ? []
      : [
          {
            slug,
            name,
            version: header(head, 'Version'),
            active: slug === theme,
            updateUri: header(head, 'Update URI'),
          },
        ]
  })
  return { wordpress: coreOf(siteDir).version, php: '8.3.0', plugins, themes }
}

/** The version of the files, and the database version that they need. */
export function coreOf(siteDir) {
  const source = headOf(path.join(siteDir, 'wp-includes', 'version.php'))
  return {
    version: /\$wp_version = '([^']+)'/.exec(source)?.[1] ?? '0',
    database: Number(/\$wp_db_version = (\d+)/.exec(source)?.[1] ?? 0),
  }
}

/**
 * The effects of the active plugins and the theme on pages: `fails` where PHP would end with an
 * error, `hides` where the content is emptied. Both are recognised by the PHP statements that cause
 * them.
 */
export function effectsOf(siteDir, { active, theme }) {
  const sources = [
    ...active.map((file) => headOf(path.join(siteDir, 'wp-content', 'plugins', file))),
    headOf(path.join(siteDir, 'wp-content', 'themes', theme, 'functions.php')),
  ]
  return {
    fails: sources.some((source) => /^throw new Error\(/m.test(source)),
    hides: sources.some((source) => source.includes("add_filter( 'render_block'")),
  }
}
