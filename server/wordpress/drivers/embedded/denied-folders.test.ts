/** Folders that a plugin protects by a .htaccess: visitors get none of their files. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixture } from '../../../../test/embedded-wordpress.ts'
import { ask, specOf } from '../conformance.ts'

let parts: Awaited<ReturnType<typeof fixture>>
const spec = specOf()
beforeAll(async () => {
  parts = await fixture({ program: 'simulated.js' })
  const { driver } = parts
  await driver.install(spec, { user: 'boss', password: 'Another#1pass', email: 'b@example.com' })
  await driver.start(spec)
}, 60_000)
afterAll(() => parts?.dispose(), 60_000)

const put = (file: string, text: string) => parts.put(spec.id, `wp-content/${file}`, text)
const status = async (file: string): Promise<number> =>
  (await ask(parts.driver.upstreams(spec.id)[0]!, `${spec.url}/wp-content/${file}`)).status

test('a folder is closed at once while the site runs, and one within it opened', async () => {
  await put('backups/db.gz', 'all of it')
  expect(await status('backups/db.gz')).toBe(200)
  await put('backups/.htaccess', 'deny from all')
  expect(await status('backups/db.gz')).toBe(403)
  expect(await status('backups/.htaccess')).toBe(403)
  await put('backups/deep/er/db.gz', 'all of it')
  expect(await status('backups/deep/er/db.gz')).toBe(403)
  await put('backups/deep/.htaccess', 'Allow from all\n')
  expect(await status('backups/deep/er/db.gz')).toBe(200)
  expect(await status('backups/db.gz')).toBe(403)
})

const both = (text: string): string => `<IfModule mod_authz_core.c>
Require all denied
</IfModule>
<IfModule !mod_authz_core.c>
Order Deny,Allow
Deny from all
</IfModule>
${text}`

test.each([
  ['as most plugins write it', 'Options -Indexes\ndeny from all\n', true],
  ['of Apache 2.4', '\tRequire   all DENIED\r\n', true],
  ['of both versions', both(''), true],
  [
    'but for style sheets',
    both('<FilesMatch "\\.(?:css|txt)$">\nRequire all granted\nAllow from all\n</FilesMatch>'),
    false,
  ],
  ['of another name', '<Files *.log>\nRequire all denied\n</Files>', false],
  ['of a name with signs', '<Files "a?x.*">\nRequire all denied\n</Files>', true],
  ['an expression that is wrong', '<FilesMatch "[">\nRequire all denied\n</FilesMatch>', true],
  ['but for one address', 'Order allow,deny\nAllow from 192.0.2.1\nDeny from all\n', true],
  ['but for who has a password', 'AuthType Basic\nRequire valid-user\n', true],
  ['but for this machine', 'Require local', true],
  ['by what no line allows', 'Order allow,deny\n', true],
  ['to some addresses', 'Order allow,deny\nAllow from all\nDeny from 192.0.2.1\n', false],
  [
    'to some addresses of Apache 2.4',
    '<RequireAll>\nRequire all granted\nRequire not ip 192.0.2.1\n</RequireAll>\n',
    false,
  ],
  ['in a remark', '# deny from all\nRewriteEngine On\n', false],
  ['at the end of a long file', `${'#'.repeat(70_000)}\ndeny from all`, true],
  ['too long to be read', '#'.repeat(1_100_000), true],
])('%s', async (_name, text, isClosed) => {
  await put('one/aXx.txt', 'x')
  await put('one/.htaccess', text)
  expect(await status('one/aXx.txt')).toBe(isClosed ? 403 : 200)
})

test('what WordPress writes into its own folder closes nothing', async () => {
  await parts.put(spec.id, '.htaccess', 'deny from all')
  await put('two/open.txt', 'x')
  expect(await status('two/open.txt')).toBe(200)
})
