// Acts that the portal has PHP do in a container, and nobody else: by a ticket, as a sign-in is.
import fs from 'node:fs'

const address = /^\/portal-act\/([\w-]{43})$/

/** The ticket of an act's address, undefined for any other address. */
export const actTicketOf = (pathname) => address.exec(pathname)?.[1]

/**
 * By the name that stands in a ticket; one without a name is of a portal of before. The files of an
 * act become one program, in this order.
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
 * PHP of our own for an act; undefined for one that this runtime does not know.
 * @param {boolean} hasMariadb what the site's database is
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
