/** Backups in S3, against the stand-in, which verifies signatures independently. */
import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startS3, type S3StandIn } from '../../../sandbox/s3/index.ts'
import { s3Store } from './s3-store.ts'
import { sha256, signed } from './s3-signature.ts'
import { StoreFault, NoSuchFile } from './store.ts'

const account = { region: 'ap-southeast-1', accessKeyId: 'AKIDTEST', secretAccessKey: 'sécret/+=' }
const partBytes = 6 * 1_048_576
let s3: S3StandIn
beforeAll(async () => {
  s3 = await startS3(account, { bucket: 'backups', pageSize: 3 })
})
afterAll(() => s3.close())

const open = (where = 's3://backups/portal/one/', keys = account) =>
  s3Store(where, { ...keys, endpoint: s3.url }, partBytes)
const put = (name: string, content: Buffer, store = open()) =>
  store.put(name, (into) => pipeline([content], into))

/** The examples of AWS's own documentation of the signature. */
test.each([
  [
    'GET',
    '/test.txt',
    {},
    { range: 'bytes=0-9' },
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  [
    'GET',
    '/',
    { lifecycle: '' },
    {},
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ],
  [
    'GET',
    '/',
    { prefix: 'J', 'max-keys': '2' },
    {},
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
])('signs %s %s as AWS does', (method, path, query, more, signature) => {
  const headers = {
    host: 'examplebucket.s3.amazonaws.com',
    'x-amz-content-sha256': sha256(''),
    ...more,
  }
  const keys = {
    region: 'us-east-1',
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  }
  const { authorization } = signed(
    { method, path, query, headers },
    keys,
    new Date('2013-05-24T00:00:00Z'),
  )
  expect(authorization).toMatch(new RegExp(`Signature=${signature}$`))
})

test('a file is written, read, listed and removed, whatever its name and size', async () => {
  const store = open()
  expect(await store.list()).toEqual([])
  const large = randomBytes(2 * partBytes + 12_345)
  const contents: Readonly<Record<string, Buffer>> = {
    'a/empty': Buffer.alloc(0),
    "a/odd name + (đ) ' & <x>.gz": Buffer.from('odd'),
    'b/large': large,
    'b/one part': randomBytes(partBytes),
    manifest: Buffer.from('{}'),
  }
  for (const [name, content] of Object.entries(contents)) await put(name, content)
  expect(s3.uploads()).toBe(0)
  expect((await store.list()).toSorted()).toEqual(Object.keys(contents).toSorted())
  for (const [name, content] of Object.entries(contents))
    expect((await buffer(await store.get(name))).equals(content), name).toBe(true)
  await put('manifest', Buffer.from('another'))
  expect((await buffer(await store.get('manifest'))).toString()).toBe('another')
  // Another prefix sees nothing of it.
  expect(await open('s3://backups/portal/on').list()).toEqual([])
  for (const name of Object.keys(contents)) await store.remove(name)
  await store.remove('never there')
  expect(await store.list()).toEqual([])
  await expect(store.get('manifest')).rejects.toThrow(NoSuchFile)
})

test('what fails in the middle leaves neither a file nor parts of one', async () => {
  const store = open()
  const failing = store.put('cut', async (into) => {
    await pipeline(async function* () {
      yield randomBytes(partBytes + 1)
      yield randomBytes(10)
      throw new Error('the database is gone')
    }, into)
  })
  await expect(failing).rejects.toThrow('the database is gone')
  expect([s3.objects.size, s3.uploads()]).toEqual([0, 0])
})

test('a server that is busy for a moment is asked again; a no is told', async () => {
  s3.failNext(3)
  await put('late', Buffer.from('late'))
  expect((await buffer(await open().get('late'))).toString()).toBe('late')
  const elsewhere = open('s3://nobodys')
  await expect(elsewhere.list()).rejects.toThrow('S3 answered 404 NoSuchBucket to GET nobodys')
  const stranger = open(undefined, { ...account, secretAccessKey: 'another' })
  await expect(put('x', Buffer.from('x'), stranger)).rejects.toThrow('403 SignatureDoesNotMatch')
  const otherRegion = open(undefined, { ...account, region: 'us-east-1' })
  await expect(otherRegion.list()).rejects.toThrow('400 AuthorizationHeaderMalformed')
  expect(() => open('s3:///portal')).toThrow(StoreFault)
  await open().remove('late')
})
