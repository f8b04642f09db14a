// A stand-in for PHP and WordPress: the pages that a person or a program meets first (front page,
// sign-in, wp-admin, posts by REST), on a SQLite file in place of WordPress's own.
import { createHash, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { measureSync } from './disk-measure.js'
import { wordpressRoot } from './root.js'
import { importStep } from './simulated-import.js'
import { probes } from './simulated-probes.js'
import { simulatedTool } from './simulated-tools.js'
import { coreOf, effectsOf, listSoftware } from './simulated-software.js'

const databaseDir = (siteDir) => path.join(siteDir, 'wp-content', 'database')

/** Budgets of one site, measured on every query, because a simulated site is small. */
export class SimulatedBudget {
  constructor({ siteDir, ssdBytes, databaseBytes }, report) {
    this.siteDir = siteDir
    this.limits = { ssd: ssdBytes, database: databaseBytes }
    this.report = report
  }
  get told() {
    const skip = databaseDir(this.siteDir)
    return { ssd: measureSync(this.siteDir, skip).bytes, database: measureSync(skip).bytes }
  }
  resize(limits) {
    Object.assign(this.limits, limits)
  }
  /** Whether `bytes` more fit; a refusal is reported. */
  takes(kind, bytes) {
    const limit = this.limits[kind]
    if (this.told[kind] + bytes <= limit) return true
    this.report({ kind, limit })
    return false
  }
}

const escaped = (text) =>
  String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
const hashOf = (password, salt = randomBytes(12)) =>
  `${salt.toString('hex')}:${scryptSync(password, salt, 24, { N: 1024 }).toString('hex')}`
const isPassword = (password, stored) => {
  const [salt = ''] = stored.split(':')
  const given = Buffer.from(hashOf(password, Buffer.from(salt, 'hex')))
  return given.length === stored.length && timingSafeEqual(given, Buffer.from(stored))
}
const cookiesOf = (headers) =>
  new Map((headers.cookie ?? '').split('; ').map((one) => one.split(/=(.*)/s).slice(0, 2)))
const json = { 'content-type': 'application/json' }
const sessionCookie = 'wordpress_logged_in_simulated'

const schema = `
  create table if not exists wp_options (option_name text primary key, option_value text);
  create table if not exists wp_users (
    ID integer primary key, user_login text unique, user_pass text, user_email text);
  create table if not exists wp_usermeta (user_id integer, meta_key text, meta_value text unique);
  create table if not exists wp_posts (
    ID integer primary key, post_title text, post_content text, post_date text);
  create table if not exists wp_postmeta (
    meta_id integer primary key, post_id integer, meta_key text, meta_value text)`

/** Answers like PHP and WordPress. */
export class SimulatedPhp {
  #faults = {}

  constructor(order, budget, mail) {
    this.order = order
    this.budget = budget
    this.mail = mail
    fs.mkdirSync(databaseDir(order.siteDir), { recursive: true })
    this.database = new DatabaseSync(path.join(databaseDir(order.siteDir), '.ht.sqlite'), {
      timeout: 20_000,
    })
    this.database.exec(`pragma synchronous = off; begin immediate; ${schema}; commit`)
    try {
      this.#faults = JSON.parse(fs.readFileSync(path.join(order.sqliteDir, 'faults.json'), 'utf8'))
    } catch {
      // There is no file, so no faults are requested.
    }
  }

  /**
   * The faults that a test requests in `faults.json` in the SQLite plugin's folder: `bootMs` and
   * `answerMs` are delays, `diesInstalled` loses the answer of a site's first installation.
   */
  async injectFault(moment) {
    if (moment === 'boot') await pause(this.#faults.bootMs ?? 0)
    if (moment === 'answer') await pause(this.#faults.answerMs ?? 0)
    if (moment !== 'installed' || !this.#faults.diesInstalled) return
    // Once per site. The mark is outside its files, which are created again when it is reinstalled.
    const mark = path.join(this.order.ticketsDir, 'died')
    if (fs.existsSync(mark)) return
    fs.writeFileSync(mark, '')
    process.exit(1)
  }

  get(sql, ...values) {
    return this.database.prepare(sql).get(...values)
  }
  all(sql, ...values) {
    return this.database.prepare(sql).all(...values)
  }
  run(sql, ...values) {
    return this.database.prepare(sql).run(...values)
  }
  option(name) {
    return this.get('select option_value from wp_options where option_name = ?', name)?.option_value
  }

  /** Like install.js. */
  install({ user, password, email, title, language }) {
    if (this.get('select 1 from wp_users')) return { already: true }
    if (!/^[\w .@-]+$/.test(user))
      throw Object.assign(
        new Error('WordPress did not install: the admin name is not one WordPress takes'),
        { rejected: true },
      )
    this.database.exec('begin immediate')
    this.run(
      'insert into wp_users (ID, user_login, user_pass, user_email) values (1, ?, ?, ?)',
      user,
      hashOf(password),
      email,
    )
    const options = { blogname: title, WPLANG: language === 'vi' ? 'vi' : 'en-US' }
    for (const [name, value] of Object.entries(options))
      this.run('insert into wp_options values (?, ?)', name, value)
    this.run(
      'insert into wp_posts (post_title, post_content, post_date) values (?, ?, ?)',
      'Hello world!',
      'Welcome.',
      new Date().toISOString(),
    )
    this.database.exec('commit')
    return {}
  }

  /** Answers a request in php-wasm's form: status, headers as pairs, text, lines for the log. */
  async respond(request) {
    await this.injectFault('answer')
    let answer
    const errors = []
    try {
      answer = this.answer(request, (line) => errors.push(line))
    } catch (error) {
      answer = { status: 500, text: '' }
      errors.push(`PHP Fatal error: ${error.message}`)
    }
    const headers = { 'content-type': 'text/html; charset=UTF-8', ...answer.headers }
    return {
      status: answer.status ?? 200,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        [value].flat().map((one) => [name, one]),
      ),
      text: answer.text ?? '',
      errors,
    }
  }

  answer({ scriptPath, code, relativeUri, method, headers, body, $_SERVER }, log) {
    const home = $_SERVER.PORTAL_HOME ?? this.order.url
    const url = new URL(relativeUri, home)
    const broken = this.brokenBy()
    if (broken) return { status: broken, text: 'broken' }
    if (code && $_SERVER.PORTAL_STEP) return this.act($_SERVER)
    const effects = effectsOf(this.order.siteDir, this.used())
    if (effects.fails) return { status: 500, text: 'There has been a critical error.' }
    if (code) return this.signIn(home, $_SERVER.PORTAL_USER)
    const script = scriptPath.slice(wordpressRoot.length)
    if (script === '/wp-login.php') return this.login(home, method, body)
    if (script === '/wp-cron.php') return {}
    if (script.startsWith('/wp-admin/')) return this.admin(home, url, script, headers)
    if (script !== '/index.php') return this.probe(script, url, log)
    if (url.pathname === '/wp-json/wp/v2/posts') return this.posts(url, method, headers, body)
    return this.page(home, url, effects.hides)
  }

  /** The status with which a failing must-use plugin answers every request. */
  brokenBy() {
    const plugins = path.join(this.order.siteDir, 'wp-content', 'mu-plugins')
    if (!fs.existsSync(plugins)) return undefined
    for (const name of fs.readdirSync(plugins)) {
      const source = fs.readFileSync(path.join(plugins, name), 'utf8')
      const status = /http_response_code\((\d{3})\)/.exec(source)?.[1]
      if (status) return Number(status)
    }
    return undefined
  }

  /** The active plugins and theme; the first theme where none was chosen. */
  used() {
    return {
      active: JSON.parse(this.option('active_plugins') ?? '[]'),
      theme: this.option('stylesheet') ?? 'simulated',
    }
  }

  softwareOf() {
    return listSoftware(this.order.siteDir, this.used())
  }

  act({ PORTAL_ACT: act, PORTAL_STEP: step }) {
    const json = (value) => ({
      headers: { 'content-type': 'application/json' },
      text: JSON.stringify(value),
    })
    if (act === 'list-software') return json(this.softwareOf())
    if (act === 'upgrade-database') {
      const before = Number(this.option('db_version') ?? 0)
      const { database } = coreOf(this.order.siteDir)
      this.run("insert or replace into wp_options values ('db_version', ?)", String(database))
      return json({ before, after: database, files: database })
    }
    const read = JSON.parse(step)
    if (act === 'import') return json(importStep(this, read))
    const tool = simulatedTool(this, act, read)
    if (tool !== undefined)
      return { text: `\n${read.mark}\n${JSON.stringify(tool)}\n${read.mark}\n` }
    return this.replaceAddresses(read)
  }

  page(home, url, isEmpty) {
    const posts = this.all('select ID, post_title from wp_posts order by ID desc limit 10')
    const found = url.pathname === '/'
    const items = posts
      .map(({ ID, post_title }) => `<li><a href="${home}/?p=${ID}">${escaped(post_title)}</a></li>`)
      .join('')
    return {
      status: found ? 200 : 404,
      text: `<!DOCTYPE html>
<html lang="${this.option('WPLANG') ?? 'en-US'}">
<head><meta charset="UTF-8"><title>${escaped(this.option('blogname') ?? '')}</title>
<link rel="stylesheet" href="${home}/wp-includes/css/dashicons.min.css"></head>
<body>${
        isEmpty
          ? ''
          : `<h1><a href="${home}/">${escaped(this.option('blogname') ?? '')}</a></h1>
<ul>${found ? items : ''}</ul><a href="${home}/wp-login.php">Log in</a>`
      }</body></html>
`,
    }
  }

  /** Like replace-address.php, for the content of posts, all at once. */
  replaceAddresses({ from, to, dryRun }) {
    const [scheme, place] = to.split('://')
    const hosts = from.map((host) => host.replaceAll('.', '\\.')).join('|')
    const pattern = new RegExp(`(https?:)?//(?:${hosts})(?::\\d+)?(?![a-z0-9-]|\\.[a-z0-9])`, 'gi')
    let found = 0
    for (const { ID, post_content: before } of this.all('select ID, post_content from wp_posts')) {
      const after = before.replace(pattern, (_all, had) => `${had ? `${scheme}:` : ''}//${place}`)
      if (after === before) continue
      found++
      if (!dryRun) this.run('update wp_posts set post_content = ? where ID = ?', after, ID)
    }
    return {
      headers: json,
      text: JSON.stringify({
        after: null,
        tables: found > 0 ? { wp_posts: found } : {},
        samples: [],
        skipped: [],
      }),
    }
  }

  /** A session cookie; WordPress sets several. */
  session(user, home) {
    const token = randomBytes(24).toString('hex')
    this.run('insert into wp_usermeta values (?, ?, ?)', user.ID, 'session_tokens', token)
    return {
      status: 302,
      headers: {
        location: `${home}/wp-admin/`,
        'set-cookie': [
          `${sessionCookie}=${token}; path=/; HttpOnly`,
          'wordpress_test_cookie=WP%20Cookie%20check; path=/',
        ],
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      },
    }
  }

  signIn(home, login) {
    const user =
      this.get('select * from wp_users where user_login = ?', login ?? '') ??
      this.get('select * from wp_users order by ID limit 1')
    return user ? this.session(user, home) : { status: 403 }
  }

  login(home, method, body) {
    const form = `<form method="post"><input name="log"><input name="pwd" type="password"></form>`
    if (method !== 'POST') return { text: form }
    const given = new URLSearchParams(Buffer.from(body ?? '').toString('utf8'))
    const user = this.get('select * from wp_users where user_login = ?', given.get('log') ?? '')
    if (!user || !isPassword(given.get('pwd') ?? '', user.user_pass))
      return { text: `<div id="login_error">Unknown user or password.</div>${form}` }
    return this.session(user, home)
  }

  userOf(headers) {
    const token = cookiesOf(headers).get(sessionCookie)
    return token === undefined
      ? undefined
      : this.get(
          `select u.* from wp_users u join wp_usermeta m on m.user_id = u.ID
           where m.meta_key = 'session_tokens' and m.meta_value = ?`,
          token,
        )
  }

  nonceOf(headers) {
    const token = cookiesOf(headers).get(sessionCookie) ?? ''
    return createHash('sha256').update(`nonce ${token}`).digest('hex').slice(0, 10)
  }

  admin(home, url, script, headers) {
    if (script === '/wp-admin/install.php')
      return { text: '<h1>Already Installed</h1><p>You appear to have installed WordPress.</p>' }
    const user = this.userOf(headers)
    if (!user) return { status: 302, headers: { location: `${home}/wp-login.php` } }
    if (url.searchParams.get('action') === 'rest-nonce') return { text: this.nonceOf(headers) }
    const title = `Dashboard ‹ ${escaped(this.option('blogname') ?? '')}`
    return {
      text: `<html lang="${this.option('WPLANG')}"><title>${title}</title><body class="wp-admin">
<h1>Dashboard</h1><input id="email" value="${escaped(user.user_email)}"></body></html>`,
    }
  }

  posts(url, method, headers, body) {
    const json = (status, value) => ({
      status,
      headers: { 'content-type': 'application/json; charset=UTF-8' },
      text: JSON.stringify(value),
    })
    const shown = ({ ID, post_title }) => ({ id: ID, title: { rendered: escaped(post_title) } })
    if (method !== 'POST') {
      const limit = Math.min(100, Number(url.searchParams.get('per_page') ?? 10))
      const rows = this.all('select * from wp_posts order by ID desc limit ?', limit)
      return json(200, rows.map(shown))
    }
    if (!this.userOf(headers) || headers['x-wp-nonce'] !== this.nonceOf(headers))
      return json(401, { code: 'rest_cannot_create' })
    const { title, content } = JSON.parse(Buffer.from(body ?? '').toString('utf8'))
    const text = JSON.stringify({ title, content })
    if (!this.budget.takes('database', text.length)) return json(507, { code: 'db_insert_error' })
    const { lastInsertRowid } = this.run(
      'insert into wp_posts (post_title, post_content, post_date) values (?, ?, ?)',
      title,
      content ?? '',
      new Date().toISOString(),
    )
    return json(201, shown({ ID: Number(lastInsertRowid), post_title: title }))
  }

  /** Runs a program of the driver suite, known by the name in its first line. */
  probe(script, url, log) {
    const source = fs.readFileSync(path.join(this.order.siteDir, script), 'utf8')
    const probe = probes[/\/\/ probe: ([\w-]+)/.exec(source)?.[1] ?? '']
    return probe ? { text: probe(this, url.searchParams, log) } : {}
  }
}
