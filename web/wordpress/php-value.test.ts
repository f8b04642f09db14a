import fc from 'fast-check'
import { expect, test } from 'vitest'
import { phpValueOf } from './php-value.ts'

const bytes = (text: string): number => new TextEncoder().encode(text).length
const quoted = (text: string): string => `s:${bytes(text)}:"${text}";`

test('lists, objects and what is in them', () => {
  const roles = `a:2:{${quoted('quản trị')}b:1;i:7;a:1:{i:0;d:1.5;}}`
  expect(phpValueOf(roles)).toEqual({
    kind: 'list',
    name: 'array',
    members: [
      { key: 'quản trị', value: { kind: 'leaf', text: 'true' } },
      {
        key: '7',
        value: {
          kind: 'list',
          name: 'array',
          members: [{ key: '0', value: { kind: 'leaf', text: '1.5' } }],
        },
      },
    ],
  })
  const hidden = '\0*\0name'
  expect(phpValueOf(`O:8:"stdClass":1:{${quoted(hidden)}N;}`)).toEqual({
    kind: 'list',
    name: 'stdClass',
    members: [{ key: 'name', value: { kind: 'leaf', text: 'null' } }],
  })
})

test('whatever stands in a string, and never an error', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.string(), (texts, odd) => {
      const written = texts.map((text, index) => `i:${index};${quoted(text)}`).join('')
      const read = phpValueOf(`a:${texts.length}:{${written}}`)
      expect(read?.kind === 'list' && read.members.map(({ value }) => value)).toEqual(
        texts.map((text) => ({ kind: 'leaf', text: JSON.stringify(text) })),
      )
      phpValueOf(`a:1:{${odd}}`)
    }),
  )
  expect(phpValueOf(`${'a:1:{i:0;'.repeat(200)}N;${'}'.repeat(200)}`)).toBeUndefined()
  expect(phpValueOf('a:1:{i:0;s:99:"short";}')).toBeUndefined()
  expect(phpValueOf('hello')).toBeUndefined()
})
