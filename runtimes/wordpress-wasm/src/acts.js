// Acts that the portal has PHP perform in a container. Each needs a ticket, as a sign-in does, so
// that nobody else can run one.
import fs from 'node:fs'

const address = /^\/portal-act\/([\w-]{43})$/

/** The ticket in an act's address, undefined for any other address. */
export const actTicketOf = (pathname) => address.exec(pathname)?.[1]

/**
 * By the name in a ticket; a ticket without a name comes from an older portal. The files of an act
 * are joined into one program, in this order.
 */
const programs = new Map([
  ['replace-addresses', ['stored-values', 'replace-address']],
  ['list-software', ['list-software']],
  ['upgrade-database', ['upgrade-database']],
  ['import', ['import-load', 'import-sqlite', 'import-database']],
  ['import, MariaDB', ['import-load', 'import-mariadb', 'import-database']],
  ['database', ['stored-values', 'tool', 'database']],
  [
    'console',
    [
      'stored-values',
      'tool',
      'console',
      'console-software',
      'console-people',
      'console-content',
      'console-database',
    ],
  ],
])
const codes = new Map()
const opening = '<?php\n'

const read = (name) => fs.readFileSync(new URL(`./${name}.php`, import.meta.url), 'utf8')

/**
 * Our own PHP for an act; undefined for an act that this runtime does not know.
 * @param {boolean} hasMariadb whether the site's database is MariaDB
 */
export function actCode(name = 'replace-addresses', hasMariadb = false) {
  const act = hasMariadb && programs.has(`${name}, MariaDB`) ? `${name}, MariaDB` : name
  const files = programs.get(act)
  if (files === undefined) return undefined
  let code = codes.get(act)
  if (code === undefined) {
    code = opening + files.map((name) => read(name).slice(opening.length)).join('\n')
    codes.set(act, code)
  }
  return code
}
