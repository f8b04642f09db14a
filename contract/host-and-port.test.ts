import { expect, test } from 'vitest'
import { readHostAndPort } from './host-and-port.ts'

test.each([
  ['10.0.0.2:7443', { host: '10.0.0.2', port: 7443 }],
  ['[2001:db8::2]:1', { host: '2001:db8::2', port: 1 }],
  ['node-2.internal:65535', { host: 'node-2.internal', port: 65_535 }],
  ['node-2.internal:65536', undefined],
  ['node-2.internal:0', undefined],
  ['node-2.internal', undefined],
  ['2001:db8::2:7443', undefined],
  ['node 2:7443', undefined],
])('%s', (text, read) => expect(readHostAndPort(text)).toEqual(read))

test('where one listens, port 0 is any free one', () => {
  expect(readHostAndPort('127.0.0.1:0', 0)).toEqual({ host: '127.0.0.1', port: 0 })
})
