/** An owner changes the PHP settings of his server, and real PHP follows. */
import fs from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PhpState } from '../../contract/wordpress-php.ts'
import { ask } from './drivers/conformance.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

let portal: TestPortal
let owner: TestCustomer
let server: { id: string; name: string }
beforeAll(async () => {
  portal = await openTestPortal({ wordpress: 'real' })
  owner = await portal.customer()
  await portal.topUp(owner, 5_000_000)
  server = await orderServer(portal, owner)
}, 120_000)
afterAll(() => portal?.close())

const php = (method = 'GET', body?: object, token = owner.token) =>
  portal.call<PhpState>(method, `/api/wp/${server.id}/php`, { token, body })
const settings = { uploadMb: 96, pageSeconds: 20, inputVars: 9_000, debug: true }

test('what is set is what PHP has, after its containers were replaced', async () => {
  expect((await php()).body.result).toEqual({
    settings: { uploadMb: 64, pageSeconds: 60, inputVars: 5_000, debug: false },
    most: { pageSeconds: 60 },
    applying: false,
  })
  const folder = path.join(portal.dataDir, 'sites', server.id, 'wordpress')
  await fs.writeFile(
    path.join(folder, 'says.php'),
    `<?php require __DIR__ . '/wp-load.php'; foreach ( array( 'upload_max_filesize',
      'post_max_size', 'max_input_vars', 'max_execution_time' ) as $n ) echo ini_get( $n ), ' ';
    echo var_export( WP_DEBUG, true ); trigger_error( 'a notice of mine' );`,
  )
  const says = async (): Promise<string> => {
    const [to] = await portal.drivers.wordpress.addresses(server.id)
    const url = `http://${server.name}.localhost:${portal.config.SITES_PORT}/says.php`
    return (await ask(to!, url)).text
  }
  const changed = await php('PUT', settings)
  expect(changed.body.result).toMatchObject({ settings, applying: true })
  await eventually('the settings apply', async () => !(await php()).body.result.applying, 60)
  expect(await says()).toBe('96M 96M 9000 20 true')
  await eventually('the notice is in the log', async () =>
    (await portal.drivers.wordpress.log(server.id).tail(100)).some(({ text }) =>
      text.includes('a notice of mine'),
    ),
  )
}, 120_000)

test('what is none, or more than the platform allows, changes nothing', async () => {
  const before = (await php()).body.result
  for (const wrong of [
    { ...settings, pageSeconds: 61 },
    { ...settings, uploadMb: 129 },
    { ...settings, uploadMb: 64.5 },
    { ...settings, inputVars: 999 },
    { ...settings, debug: 'yes' },
    { uploadMb: 64 },
    { ...settings, disable_functions: '' },
  ])
    expect((await php('PUT', wrong)).status, JSON.stringify(wrong)).toBe(422)
  const other = await portal.customer()
  expect((await php('GET', undefined, other.token)).status).toBe(404)
  expect((await php('PUT', settings, other.token)).status).toBe(404)
  expect((await php()).body.result).toEqual(before)
  // The same settings again replace no container.
  expect((await php('PUT', settings)).body.result.applying).toBe(false)
})
