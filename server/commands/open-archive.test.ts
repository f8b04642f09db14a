/** Opens an archive with Node only: no portal, no database, and nothing left afterwards. */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import fs from 'node:fs/promises'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serverProgram } from '../../scripts/bootstrap.mjs'
import { fixture } from '../../test/embedded-wordpress.ts'
import { eventually, freePort } from '../../test/portal.ts'
import { ask, specOf } from '../wordpress/drivers/conformance.ts'

const visit = (port: number, target: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    http
      .get(
        { host: '127.0.0.1', port, path: target, headers: { host: `archive.localhost:${port}` } },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8')
          answer.on('data', (chunk: string) => (text += chunk))
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
        },
      )
      .on('error', reject)
  })

test('a backup is served on loopback until it is ended', { timeout: 240_000 }, async () => {
  const parts = await fixture()
  onTestFinished(() => parts.dispose())
  const spec = specOf({ url: 'https://tiem-banh.example' })
  const admin = { user: 'chu', password: 'Another#1pass', email: 'b@example.com' }
  await parts.driver.install(spec, admin)
  await parts.driver.start(spec)
  await parts.put(
    spec.id,
    'probe-fill.php',
    `<?php require 'wp-load.php'; echo wp_insert_post( array( 'post_title' => 'Bánh đậu 🌧',
	'post_status' => 'publish', 'post_content' => '<a href="https://tiem-banh.example/x">x</a>' ) );`,
  )
  const [at] = parts.driver.upstreams(spec.id)
  expect((await ask(at!, `${spec.url}/probe-fill.php`)).text).toMatch(/^\d+$/)
  const archive = path.join(parts.dataDir, 'away.tar.gz')
  await parts.driver.backup(spec.id, archive)

  const port = await freePort()
  const temporary = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-open-'))
  await fs.chmod(temporary, 0o755)
  onTestFinished(() => fs.rm(temporary, { recursive: true, force: true }))
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      serverProgram('command'),
      'open-archive',
      archive,
      '--port',
      String(port),
    ],
    {
      cwd: path.resolve(import.meta.dirname, '../..'),
      env: { PATH: process.env['PATH'], TMPDIR: temporary, ENV_FILE: os.devNull },
    },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const exited = new Promise((resolve) => child.once('exit', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  await eventually('the site', async () => said.includes('The site answers at'), 120)
  const front = await visit(port, '/')
  expect(front.status).toBe(200)
  expect(front.text).toContain(`http://archive.localhost:${port}`)
  expect(front.text).not.toContain('tiem-banh.example')
  const posts = await visit(port, '/wp-json/wp/v2/posts')
  const [newest] = JSON.parse(posts.text) as {
    title: { rendered: string }
    content: { rendered: string }
  }[]
  expect(newest?.title.rendered).toBe('Bánh đậu 🌧')
  expect(newest?.content.rendered).toContain(`http://archive.localhost:${port}/x`)
  child.kill('SIGINT')
  expect(await exited).toBe(0)
  expect(readdirSync(temporary)).toEqual([])
})
