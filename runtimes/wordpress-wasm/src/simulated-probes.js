// The PHP programs of the driver suite, for a runtime without PHP.
import fs from 'node:fs'
import path from 'node:path'

const megabyte = 1_048_576
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

/** By name: `(php, query, log) => text of the page`. */
export const probes = {
  users: (php) => {
    const users = php.all('select * from wp_users')
    const lines = users.map((user) => `${user.user_login} ${user.user_email} administrator\n`)
    return `${lines.join('')}${php.option('WPLANG')} /%year%/%monthnum%/%day%/%postname%/ ${escaped(
      php.option('blogname'),
    )}`
  },
  post: (php, query) => {
    const content = query.get('content')
    if (content !== null) php.run('update wp_posts set post_content = ? where ID = 1', content)
    return php.get('select post_content from wp_posts where ID = 1').post_content
  },
  log: (_php, _query, log) => {
    log('a word from PHP')
    return ''
  },
  mail: (php, query) => {
    const taken = php.mail.take({
      to: query.get('to') ?? '',
      subject: query.get('subject') ?? '',
      headers: query.get('headers') ?? '',
      parameters: query.get('parameters') ?? '',
      body: Buffer.from(query.get('body') ?? '').toString('base64'),
    })
    return `mail=${taken}`
  },
  'fill-file': (php, query) => {
    const name = `wp-content/uploads-fill-${query.get('n')}`
    const file = fs.openSync(path.join(php.order.siteDir, name), 'w')
    let written = 0
    while (written < Number(query.get('mb')) && php.budget.takes('ssd', megabyte)) {
      fs.writeSync(file, Buffer.alloc(megabyte, 'x'))
      written++
    }
    fs.closeSync(file)
    return `written=${written}`
  },
  'fill-table': (php, query) => {
    let ok = 0
    while (ok < Number(query.get('rows')) && php.budget.takes('database', 400_000)) {
      php.run(
        "insert into wp_postmeta (post_id, meta_key, meta_value) values (1, 'fill', ?)",
        String.fromCodePoint(97 + (ok % 26)).repeat(100_000),
      )
      ok++
    }
    const { n } = php.get("select count(*) as n from wp_postmeta where meta_key = 'fill'")
    return `ok=${ok} rows=${n}`
  },
}
