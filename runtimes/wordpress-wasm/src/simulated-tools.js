// The owner's tools on a simulated site: a few console commands, and the database browser on its
// SQLite file.
const nothing = {
  ok: true,
  messages: [],
  columns: [],
  rows: [],
  isRecord: false,
  value: null,
  isCut: false,
}
const no = (text) => ({ ...nothing, ok: false, messages: [`Error: ${text}`] })
const yes = (text) => ({ ...nothing, messages: [`Success: ${text}`] })
const list = (columns, rows, { fields }) => {
  const shown = fields === undefined ? columns : fields.split(',')
  const missing = rows[0] && shown.find((name) => !(name in rows[0]))
  if (missing !== undefined) return no(`Invalid field: ${missing}.`)
  const texts = rows.map((row) => shown.map((name) => String(row[name] ?? '')))
  return { ...nothing, columns: shown, rows: texts }
}

const commands = {
  'core version': (php) => ({ ...nothing, value: php.softwareOf().wordpress }),
  'plugin list': (php, _args, flags) =>
    list(
      ['name', 'status', 'version'],
      php.softwareOf().plugins.map(({ file, version, active }) => ({
        name: file.replace(/\/.*|\.php$/, ''),
        status: active ? 'active' : 'inactive',
        version,
      })),
      flags,
    ),
  'user list': (php, _args, flags) =>
    list(
      ['ID', 'user_login', 'user_email'],
      php.all('select ID, user_login, user_email from wp_users'),
      flags,
    ),
  'post list': (php, _args, flags) =>
    list(
      ['ID', 'post_title', 'post_date'],
      php.all('select ID, post_title, post_date from wp_posts order by ID desc'),
      flags,
    ),
  'option get': (php, [key]) => {
    const value = php.option(key)
    return value === undefined
      ? no(`Could not get '${key}' option. Does it exist?`)
      : { ...nothing, value }
  },
  'option update': (php, [key, value]) => {
    php.run('insert or replace into wp_options values (?, ?)', key, value)
    return yes(`Updated '${key}' option.`)
  },
  'option delete': (php, [key]) => {
    php.run('delete from wp_options where option_name = ?', key)
    return yes(`Deleted '${key}' option.`)
  },
  'post update': (php, [id], flags) => {
    php.run('update wp_posts set post_title = ? where ID = ?', flags.post_title ?? '', id)
    return yes('Updated 1 of 1.')
  },
}

const quoted = (name) => `"${String(name).replaceAll('"', '""')}"`
const cellOf = (value) => {
  if (value === null || value === undefined) return null
  const text = String(value)
  return { kind: 'text', value: text, bytes: Buffer.byteLength(text) }
}
const cellsOf = (row, reveals) =>
  Object.entries(row).map(([column, value]) =>
    column === 'user_pass' && !reveals ? { kind: 'masked', value: '', bytes: 0 } : cellOf(value),
  )
const shownRows = (columns, rows, reveals) => ({
  columns,
  rows: rows.map((row) => cellsOf(row, reveals)),
  isCut: false,
})
class Refused extends Error {}

/** Like database.php. */
class SimulatedDatabase {
  constructor(php, step) {
    this.php = php
    this.step = step
  }
  get names() {
    return this.php
      .all("select name from sqlite_master where type = 'table' order by name")
      .map(({ name }) => name)
  }
  get table() {
    if (!this.names.includes(this.step.table)) throw new Refused('There is no such table.')
    return quoted(this.step.table)
  }
  get described() {
    return this.php.all(`pragma table_info(${this.table})`)
  }
  where(pairs) {
    const known = this.described.map(({ name }) => name)
    const unknown = Object.keys(pairs).find((name) => !known.includes(name))
    if (unknown !== undefined) throw new Refused(`There is no column '${unknown}'.`)
    return Object.keys(pairs)
      .map((name) => `${quoted(name)} = ?`)
      .join(' and ')
  }
  one() {
    const { key } = this.step
    const own = this.described.filter(({ pk }) => pk > 0).map(({ name }) => name)
    if (own.length === 0 || own.some((name) => !(name in key)))
      throw new Refused('A row is named by its whole primary key.')
    const row = this.php.get(
      `select * from ${this.table} where ${this.where(key)}`,
      ...Object.values(key),
    )
    if (!row) throw new Refused('This row is not there any more.')
    return row
  }
  tables() {
    const count = (name) => this.php.get(`select count(*) n from ${quoted(name)}`).n
    return { tables: this.names.map((name) => ({ name, rows: count(name), bytes: 4_096 })) }
  }
  columns() {
    return {
      columns: this.described.map(({ name, type, notnull, dflt_value: standard, pk }) => ({
        name,
        type,
        mayBeNull: notnull === 0 && pk === 0,
        isKey: pk > 0,
        default: standard,
        isAutomatic: pk > 0 && type.toLowerCase() === 'integer',
      })),
      keys: [
        {
          name: 'PRIMARY',
          isUnique: true,
          columns: this.described.filter(({ pk }) => pk > 0).map(({ name }) => name),
        },
      ],
    }
  }
  rows() {
    const { filter, sort, descends, limit, offset, reveals } = this.step
    const columns = this.described.map(({ name }) => name)
    if (sort !== '') this.where({ [sort]: '' })
    const values = filter ? [filter.how === 'is' ? filter.value : `%${filter.value}%`] : []
    const condition = filter ? this.where({ [filter.column]: '' }) : ''
    const where = filter
      ? ` where ${filter.how === 'is' ? condition : condition.replace('=', 'like')}`
      : ''
    const order = `${quoted(sort === '' ? columns[0] : sort)}${descends ? ' desc' : ''}`
    const rows = this.php.all(
      `select * from ${this.table}${where} order by ${order} limit ? offset ?`,
      ...values,
      limit,
      offset,
    )
    const { n: total } = this.php.get(`select count(*) n from ${this.table}${where}`, ...values)
    return { ...shownRows(columns, rows, reveals), total }
  }
  row() {
    const row = this.one()
    return shownRows(Object.keys(row), [row], this.step.reveals)
  }
  change() {
    const { change, key, values, expected } = this.step
    const names = Object.keys(values)
    this.where(values)
    const written = names.map((name) => values[name]?.value ?? null)
    if (change === 'insert') {
      const places = names.map(() => '?').join()
      const { lastInsertRowid } = this.php.run(
        `insert into ${this.table} (${names.map(quoted).join()}) values (${places})`,
        ...written,
      )
      return { former: null, inserted: Number(lastInsertRowid) }
    }
    const former = this.one()
    for (const [name, cell] of Object.entries(expected))
      if ((cellOf(former[name])?.value ?? null) !== (cell?.value ?? null))
        throw new Refused('This row has been changed meanwhile.')
    const at = [`where ${this.where(key)}`, Object.values(key)]
    if (change === 'delete') this.php.run(`delete from ${this.table} ${at[0]}`, ...at[1])
    else {
      const set = names.map((name) => `${quoted(name)} = ?`).join()
      this.php.run(`update ${this.table} set ${set} ${at[0]}`, ...written, ...at[1])
    }
    const kept = Object.entries(former).filter(
      ([name]) => change === 'delete' || names.includes(name),
    )
    return {
      former: Object.fromEntries(kept.map(([name, value]) => [name, cellOf(value)])),
      inserted: 0,
    }
  }
  sql() {
    const { sql, reads, limit, reveals } = this.step
    if (!reads) {
      const { changes } = this.php.run(sql)
      return { columns: [], rows: [], isCut: false, changed: Number(changes) }
    }
    const rows = this.php.all(sql)
    const columns = Object.keys(rows[0] ?? {})
    return {
      ...shownRows(columns, rows.slice(0, limit), reveals),
      isCut: rows.length > limit,
      changed: null,
    }
  }
}

function database(php, step) {
  try {
    return { ok: true, messages: [], data: new SimulatedDatabase(php, step)[step.op]() }
  } catch (error) {
    return { ok: false, messages: [error.message], data: null }
  }
}

/** The answer of the runtime's tool.php; undefined for an act that is no tool. */
export function simulatedTool(php, act, step) {
  if (act === 'database') return database(php, step)
  if (act !== 'console') return undefined
  const command = commands[step.verb]
  return command
    ? command(php, step.args, step.flags)
    : no(`This server does not know the command '${step.verb}' yet.`)
}
